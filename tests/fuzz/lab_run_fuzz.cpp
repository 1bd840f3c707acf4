// Records of the laboratory that nobody wrote: refused, or made into pages.
#include "fuzz/other_record.hpp"
#include "headroom/report/lab.hpp"
#include "report/small_experiment.hpp"

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
  const Record records = other_record(bytes.ConsumeBool() ? all : small_experiment(), bytes);
  if (!records.is_object() || !is_lab_run(records)) return 0;
  reads([&] { write_lab_run(records, file_of("")); });
  return 0;
}
