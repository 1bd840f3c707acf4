// Records of the laboratory that nobody wrote: refused, or made into pages.
#include "fuzz/other_record.hpp"
#include "headroom/report/lab.hpp"
#include "support/small_experiment.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Record all = [] {
    Record experiment = small_experiment();
    experiment["file"] = "small.html";
    return Record{{"kind", "lab-all"},
                  {"command", "headroom lab all"},
                  {"experiments", Record::array({experiment, experiment})}};
  }();
  FuzzedDataProvider bytes(data, size);
  const Record sound = bytes.ConsumeBool() ? all : small_experiment();
  const Record records = other_record(sound, bytes);
  if (!is_lab_run(records)) return 0;
  const bool written = reads([&] { write_lab_run(records, file_of("")); });
  must(written || records != sound);
  return 0;
}
