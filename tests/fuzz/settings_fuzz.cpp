// Files config.json that nobody wrote: refused, or settings that stay the same when they are
// written and read again.
#include "fuzz/begun_run.hpp"
#include "headroom/io/json.hpp"
#include "headroom_runs/runs/setting.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Record> sound = [] {
    std::vector<Record> records;
    for (const RunSettings& settings : small_settings()) records.push_back(settings.to_record());
    return records;
  }();
  FuzzedDataProvider bytes(data, size);
  const Record& begun = sound[bytes.ConsumeIntegralInRange<std::size_t>(0, sound.size() - 1)];
  const Record config = parse_json(other_record(begun, bytes).dump(), "config.json");
  const bool read = reads([&] {
    RunSettings settings = RunSettings::from_record(config, "config.json");
    const Record written = settings.to_record();
    must(RunSettings::from_record(parse_json(written.dump(), "again"), "again").to_record() ==
         written);
    settings.pruning.check();
    fit_to_model(settings, {}, quoted_name);
  });
  must(read || config != begun);
  return 0;
}
