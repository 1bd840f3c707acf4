// Files of Marian's tokenizer that nobody wrote, and texts: refused, or tokens that can be decoded.
#include "fuzz/other_record.hpp"
#include "fuzz/tokenizer_fuzz.hpp"
#include "headroom/io/json.hpp"
#include "support/small_marian.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFolder folder;
  static const Record vocabulary = [] {
    write_marian(folder);
    return parse_json(folder.content("vocab.json"), "vocab.json");
  }();
  const InputCost cost(InputCost::of_foreign_files);
  FuzzedDataProvider bytes(data, size);
  const std::string text = bytes.ConsumeRandomLengthString();
  std::string model = marian_source();
  for (int changes = bytes.ConsumeIntegralInRange(0, 4); changes > 0; --changes) {
    const auto place = bytes.ConsumeIntegralInRange<std::size_t>(0, model.size() - 1);
    model[place] = bytes.ConsumeIntegral<char>();
  }
  folder.file("source.spm", model);
  folder.file("vocab.json", other_record(vocabulary, bytes).dump());
  opened_for(folder.path(), text);
  return 0;
}
