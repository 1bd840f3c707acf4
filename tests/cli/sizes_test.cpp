// Numbers that are too large, octal or overflow: in options and in config.json.
#include <algorithm>
#include <limits>

#include "cli/runs.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;

TEST_CASE("a number that no run can have is refused with its limit") {
  struct Bad {
    std::vector<std::string> arguments;
    const char* words;
  };
  const std::vector<Bad> all = {
      {{"train", "--batch", "300000000000000000"}, "--batch: 300000000000000000 is more than 1000"},
      {{"train", "--batch", "2000000"}, "--batch 2000000 is more than 1000000"},
      {{"train", "--batch", "99999999999999999999"}, "--batch: 99999999999999999999 is too large"},
      {{"train", "--batch", "010"}, "--batch: write 010 as 10"},
      {{"train", "--batch", "0x10"}, "--batch: \"0x10\" is not a whole number"},
      {{"train", "--batch", "1e3"}, "--batch: \"1e3\" is not a whole number"},
      {{"train", "--snapshots", "5,010"}, "--snapshots: write 010 as 10"},
      {{"train", "--seed", "-5"}, "--seed -5 is negative"},
      {{"train", "--steps", "9223372036854775807"}, "--steps: 9223372036854775807 is more than"},
      {{"train", "--width", "1000000000"}, "--width 1000000000 is more than 10000000"},
      {{"train", "--length", "1000001"}, "--length 1000001 is more than 1000000"},
      {{"train", "--save-every", "-1"}, "--save-every -1"},
      {{"train", "--weight-decay", "inf"}, "--weight-decay inf is not a finite number from 0"},
      {{"train", "--clip", "nan"}, "--clip nan is not a finite number from 0"},
      {{"train", "--clip", "inf"}, "--clip inf is not a finite number from 0"},
      {{"train", "--steps", "40", "--warmup", "100"}, "--warmup 100 must be less than --steps 40"},
      {{"train", "--schedule-steps", "9", "--warmup", "9"},
       "--warmup 9 must be less than --schedule-steps 9"},
      {{"train", "--steps", "40", "--warmup", "41", "--schedule", "constant"},
       "--warmup 41 must be at most --steps 40"},
      {{"train", "--prune", "2", "--prune-over", "1000000000001"}, "--prune-over: 1000000000001"},
      {{"doctor", "--threads", "5000"}, "--threads: 5000 is more than 1024"},
      {{"doctor", "--threads", "02"}, "--threads: write 02 as 2"},
      {{"bench", "step", "--batch", "300000000000000000"}, "--batch: 300000000000000000 is more"},
      {{"sample", "--length", "1000000000000"}, "--length: 1000000000000 is more than 1000000"},
      {{"demo", "--seed", "017"}, "--seed: write 017 as 17"},
  };
  const TemporaryFolder folder;
  for (const Bad& bad : all) {
    INFO(bad.arguments[0] << " " << bad.arguments[1] << " " << bad.words);
    const Finished finished = headroom_program(bad.arguments, folder);
    CHECK(finished.code == 2);
    CHECK_THAT(finished.err, Contains(std::string("error: ") + bad.words));
    CHECK(std::count(finished.err.begin(), finished.err.end(), '\n') == 1);
  }
  for (const char* threads : {"1", "1024"}) {  // the limits themselves are taken
    INFO(threads);
    CHECK_THAT(headroom_program({"predict", "--threads", threads, "--model", "none"}, folder).err,
               Contains("none does not exist"));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a configuration with such a number is refused by its key") {
  const TemporaryFolder folder;
  REQUIRE(headroom_program(small_run("run", {"--until", "1"}), folder).code == 0);
  const json config = json::parse(content(folder / "run/config.json"));
  for (const auto& [section, key] : {std::pair("training", "batch_size"),
                                     {"training", "steps"},
                                     {"training", "length"},
                                     {"training", "evaluate_every"},
                                     {"training", "telemetry"},
                                     {"model", "width"},
                                     {"model", "hidden"},
                                     {"model", "layers"},
                                     {"model", "longest"},
                                     {"model", "heads"}}) {
    for (const std::int64_t value :
         {std::numeric_limits<std::int64_t>::max(), std::int64_t{1} << 61, std::int64_t{-1}}) {
      INFO(key << " " << value);
      json changed = config;
      changed[section][key] = value;
      folder.file("run/config.json", changed.dump());
      const Finished finished = headroom_program({"train", "--out", "run", "--resume"}, folder);
      CHECK(finished.code == 5);
      CHECK_THAT(finished.err, Contains("error: run/config.json: ") && Contains(key));
    }
  }
}
