// Records of the laboratory that nobody wrote: refused, or made into pages.
#include "fuzz/other_record.hpp"
#include "headroom_lab/report/lab.hpp"
#include "support/small_experiment.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Record all = [] {
    LabRecord experiment = small_experiment();
    experiment.file = "small.html";
    LabRun run;
    run.command = "headroom lab all";
    run.experiments = {experiment, experiment};
    return json_of(run);
  }();
  FuzzedDataProvider bytes(data, size);
  const Record sound = bytes.ConsumeBool() ? all : json_of(small_experiment());
  const Record records = other_record(sound, bytes);
  if (!is_lab_run(records)) return 0;
  const bool written = reads([&] { write_lab_run(records, file_of("")); });
  must(written || records != sound);
  return 0;
}
