// Files of WordPiece that nobody wrote, and texts: refused, or tokens that can be decoded.
#include "fuzz/folder_files.hpp"
#include "fuzz/other_record.hpp"
#include "fuzz/tokenizer_fuzz.hpp"
#include "support/small_vocabularies.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static FolderFiles json, plain;
  static const Record sound = bert_json();
  static const std::string sound_file = sound.dump();
  static const Record config = {{"do_lower_case", true},
                                {"strip_accents", nullptr},
                                {"mask_token", {{"content", "[MASK]"}}},
                                {"added_tokens_decoder", {{"4", added_token("[MASK]", 4)}}}};
  const InputCost cost(InputCost::of_foreign_files);
  FuzzedDataProvider bytes(data, size);
  const std::string text = bytes.ConsumeRandomLengthString();
  if (bytes.ConsumeBool()) {
    const std::string file = other_record(sound, bytes).dump();
    json.put("tokenizer.json", file);
    must(opened_for(json.path(), text) || file != sound_file);
  } else {
    plain.put("vocab.txt", lines(bert_tokens) + bytes.ConsumeRandomLengthString());
    plain.put("tokenizer_config.json", other_record(config, bytes).dump());
    opened_for(plain.path(), text);
  }
  return 0;
}
