// Stopped runs whose files nobody wrote: `train --resume` refuses them before it trains the last
// step, or trains on to the end.
#include "fuzz/begun_run.hpp"
#include "headroom/io/json.hpp"
#include "headroom/io/stateful.hpp"

using namespace headroom;

namespace {

/// Sizes that a user may wish for, but that take long. All others must be refused.
void limit_wishes(Record& config) {
  for (const auto& [section, key, most] : {std::tuple("training", "steps", 8),
                                           {"training", "batch_size", 64},
                                           {"training", "length", 64},
                                           {"task", "train", 64},
                                           {"task", "validation", 64},
                                           {"task", "test", 64}}) {
    if (!config.is_object() || !config.contains(section) || !config[section].is_object()) continue;
    Record& value = config[section][key];
    if (value.is_number_integer() && value > most) value = most;
  }
}

/// Changes bytes of the log, or removes some.
void change_log(std::string& log, FuzzedDataProvider& bytes) {
  if (log.empty()) return;
  const auto place = bytes.ConsumeIntegralInRange<std::size_t>(0, log.size() - 1);
  const auto count = bytes.ConsumeIntegralInRange<std::size_t>(0, 40);
  log.replace(place, count, bytes.ConsumeRandomLengthString(20));
}

/// Changes a member of a line of the log.
void change_line(std::string& log, FuzzedDataProvider& bytes) {
  const auto lines = std::count(log.begin(), log.end(), '\n');
  std::size_t begin = 0;
  for (auto skip = bytes.ConsumeIntegralInRange<std::ptrdiff_t>(0, lines); skip > 0; --skip) {
    begin = log.find('\n', begin) + 1;
  }
  const std::size_t end = std::min(log.find('\n', begin), log.size());
  Record line;
  if (!reads([&] { line = parse_json(log.substr(begin, end - begin), "line"); })) return;
  change_some_member(line, bytes);
  log.replace(begin, end - begin, line.dump());
}

/// The steps that a checkpoint says were done; -1 if it says nothing.
Index steps_in(const std::filesystem::path& checkpoint) {
  Index steps = -1;
  reads([&] {
    const TensorFile file = TensorFile::read(checkpoint);
    steps = StateReader(file, "trainer.").integer("steps");
  });
  return steps;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFolder folder;
  static const std::filesystem::path path = folder / "run";
  static const std::vector<BegunRun> sound = [] {
    std::vector<BegunRun> runs;
    for (const RunSettings& settings : small_settings()) runs.emplace_back(settings, path);
    return runs;
  }();
  FuzzedDataProvider bytes(data, size);
  const BegunRun& begun = sound[bytes.ConsumeIntegralInRange<std::size_t>(0, sound.size() - 1)];
  const bool accept_changes = bytes.ConsumeBool(), checksums = bytes.ConsumeBool();
  Record config = begun.config;
  OtherCheckpoint checkpoint(begun.checkpoint), best(begun.best);
  std::string log = begun.log;
  const bool changed = bytes.remaining_bytes() > 0;
  while (bytes.remaining_bytes() > 0) {
    switch (bytes.ConsumeIntegralInRange(0, 8)) {
      case 0: change_log(log, bytes); break;
      case 1: change_line(log, bytes); break;
      case 2: best.change(bytes); break;
      case 3:
      case 4: change_some_member(config, bytes); break;
      default: checkpoint.change(bytes);
    }
  }
  limit_wishes(config);
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  const RunFolder files(path);
  if (!reads([&] {
        checkpoint.file(checksums).write(files.checkpoint());
        if (!begun.best.names().empty()) best.file(checksums).write(files.best());
      })) {
    return 0;  // two tensors of one name
  }
  write_file(files.config(), config.dump());
  write_file(files.metrics(), log);
  const std::string before = read_file(files.checkpoint());

  const int code = resumed(path, accept_changes);
  must(code == 0 || (code >= 2 && code <= 5));  // 1: an error that is none of ours, or no memory
  must(code == 0 || changed);
  if (code != 0 && config.is_object() && read_file(files.checkpoint()) != before) {
    const Record last = config.value("/training/steps"_json_pointer, Record());
    must(last.is_number_integer() && steps_in(files.checkpoint()) < last.get<Index>());
  }
  return 0;
}
