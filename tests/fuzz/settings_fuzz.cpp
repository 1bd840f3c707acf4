// Files config.json that nobody wrote: refused, or settings that stay the same when they are
// written and read again.
#include "cli/train/train_settings.hpp"
#include "fuzz/begun_run.hpp"
#include "headroom/io/json.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Record> sound = [] {
    std::vector<Record> records;
    for (const TrainSettings& settings : small_settings()) records.push_back(settings.to_record());
    return records;
  }();
  FuzzedDataProvider bytes(data, size);
  const Record& begun = sound[bytes.ConsumeIntegralInRange<std::size_t>(0, sound.size() - 1)];
  const Record config = parse_json(other_record(begun, bytes).dump(), "config.json");
  const bool read = reads([&] {
    const TrainSettings settings = TrainSettings::from_record(config, "config.json");
    const Record written = settings.to_record();
    must(TrainSettings::from_record(parse_json(written.dump(), "again"), "again").to_record() ==
         written);
    settings.pruning.check();
    fitted_to(settings.run.model, settings.branch.without, settings.pruning);
  });
  must(read || config != begun);
  return 0;
}
