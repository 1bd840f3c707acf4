// Files of byte pair encoding that nobody wrote, and texts: refused, or tokens that can be decoded.
#include "fuzz/folder_files.hpp"
#include "fuzz/other_record.hpp"
#include "fuzz/tokenizer_fuzz.hpp"
#include "support/small_vocabularies.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static FolderFiles json, plain;
  static const Record sound = bpe_json();
  static const std::string sound_file = sound.dump();
  static const std::string vocabulary = ids_of(bpe_tokens()).dump();
  const InputCost cost(InputCost::of_foreign_files);
  FuzzedDataProvider bytes(data, size);
  const std::string text = bytes.ConsumeRandomLengthString();
  if (bytes.ConsumeBool()) {
    const std::string file = other_record(sound, bytes).dump();
    json.put("tokenizer.json", file);
    const auto tokenizer = opened_for(json.path(), text);
    if (file == sound_file) {
      must(tokenizer != nullptr);
      must(find_malformed_utf8(text) || tokenizer->decode(tokenizer->encode(text)) == text);
    }
  } else {
    plain.put("vocab.json", vocabulary);
    plain.put("merges.txt", lines(bpe_merges) + bytes.ConsumeRandomLengthString());
    opened_for(plain.path(), text);
  }
  return 0;
}
