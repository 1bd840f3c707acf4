// Any bytes as a dictionary, a text and a list of names, with bad lines refused and skipped.
#include "fuzz/fuzz.hpp"
#include "headroom/data/file_tasks.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider bytes(data, size);
  TaskOptions options;
  options.skip_bad_lines = bytes.ConsumeBool();
  options.stress = bytes.ConsumeBool();
  options.window = bytes.ConsumeIntegralInRange<Index>(0, 8);
  options.data = file_of(bytes.ConsumeRemainingBytesAsString());
  reads([&] { read_g2p_task(options); });
  reads([&] { read_text_corpus(options); });
  reads([&] { read_names(options); });
  return 0;
}
