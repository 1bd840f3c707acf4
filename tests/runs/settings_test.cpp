// The rows of settings: what is given becomes a run's settings, and these become config.json.
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/train/learner.hpp"
#include "headroom_runs/runs/setting.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// A config.json that an earlier version wrote, and what was given.
struct WrittenConfig {
  const char* name;
  GivenSettings given;
};

std::vector<WrittenConfig> written_before() {
  const GivenSettings small{{"steps", 40}, {"width", 16},          {"heads", 4},     {"batch", 8},
                            {"until", 1},  {"evaluate_every", 40}, {"no_page", true}};
  const auto with = [&](GivenSettings more) {
    more.insert(small.begin(), small.end());
    return more;
  };
  return {{"plain", with({{"task", "brackets"}})},
          {"rich", with({{"task", "reverse"},
                         {"validation", 40},
                         {"fold", "2/5"},
                         {"seed", 7},
                         {"init", 2},
                         {"layout", "separate"},
                         {"head_dim", 6},
                         {"post_norm", true},
                         {"norm", "rms"},
                         {"positions", "learned"},
                         {"activation", "gelu"},
                         {"optimizer", "muon"},
                         {"granularity", "head"},
                         {"weight_decay", 0.2},
                         {"beta2", 0.95},
                         {"clip", 0},
                         {"schedule", "inverse_root"},
                         {"schedule_steps", 50},
                         {"warmup", 3},
                         {"save_every", 20},
                         {"snapshots", {10, 20}},
                         {"telemetry", 5},
                         {"dropout", 0.1},
                         {"label_smoothing", 0.1},
                         {"no_test", true},
                         {"without", "cross 1.3,decoder 0.0"},
                         {"drop_head", 0.2},
                         {"prune", 6},
                         {"prune_schedule", "iterative"},
                         {"prune_rounds", 3},
                         {"prune_from", "0.25"},
                         {"prune_to", 30},
                         {"metric", "magnitude"},
                         {"rescore", "each_event"},
                         {"budget", "per_kind"},
                         {"at_least", 1},
                         {"compensate", "mean"},
                         {"regrow", 0.3},
                         {"regrow_every", 2},
                         {"regrow_until", 36},
                         {"regrow_with", "fresh"},
                         {"measure_cut", true}})},
          {"gated", with({{"task", "dates"},
                          {"keep", 9},
                          {"gates", "subset"},
                          {"prune_from", 10},
                          {"prune_over", 20},
                          {"metric", "sensitivity"}})},
          {"given", with({{"task", "sort"},
                          {"remove", "cross 1.3,decoder 0.0"},
                          {"prune_schedule", "one_shot"}})}};
}

std::string path_of(const WrittenConfig& written) {
  return HEADROOM_SOURCE "/tests/runs/old_configs/" + std::string(written.name) + ".json";
}

/// In which the order of keys does not count.
nlohmann::json unordered(const Record& record) { return nlohmann::json::parse(record.dump()); }

GivenSettings small(GivenSettings more) {
  more.insert({{"task", "reverse"}, {"steps", 100}, {"prune", 4}});
  return more;
}

}  // namespace

TEST_CASE("a config.json that an earlier version wrote opens and is written again as it was") {
  for (const WrittenConfig& written : written_before()) {
    INFO(written.name);
    const Record old = parse_json(read_file(path_of(written)), "old");
    const RunSettings settings = RunSettings::from_record(old, "old");
    CHECK(unordered(settings.to_record()) == unordered(old));
    const Record again = settings.to_record();
    CHECK(RunSettings::from_record(again, "again").to_record() == again);
  }
}

TEST_CASE("what is given becomes the settings that an earlier version made of the same options") {
  for (const WrittenConfig& written : written_before()) {
    INFO(written.name);
    RunSettings settings = settings_of(written.given, option_text);
    TrainingSettings& run = settings.training;
    run.model = fitted_to(run.make_task(), run.model, run.learner);
    fit_to_model(settings, written.given, option_text);
    CHECK(unordered(settings.to_record()) ==
          unordered(parse_json(read_file(path_of(written)), "old")));
  }
}

TEST_CASE("each setting has a name, a synonym or a path of its own, and a help text") {
  std::set<std::string> names, paths;
  for (const Setting& setting : all_settings()) {
    INFO(setting.name);
    CHECK(names.insert(setting.name).second);
    for (const std::string& other : setting.synonyms) CHECK(names.insert(other).second);
    if (!setting.path.empty()) CHECK(paths.insert(setting.path).second);
    CHECK_FALSE(setting.help.empty());
    CHECK(bool(setting.get) == bool(setting.set));
    CHECK(find_setting(setting.name) == &setting);
    CHECK_FALSE(Contains("{").match(help_of(setting, option_text)));
  }
  CHECK(find_setting("max-steps") == find_setting("steps"));
  CHECK(find_setting("stepz") == nullptr);
}

TEST_CASE("every member that a setting has survives config.json") {
  for (const Setting& setting : all_settings()) {
    if (!setting.get || setting.path.empty() || setting.path.starts_with("model.")) continue;
    INFO(setting.name);
    RunSettings settings = usual_settings("reverse");
    const Record before = setting.get(settings);
    const Record other = before.is_boolean()                 ? Record(!before.get<bool>())
                         : before.is_number_float()          ? Record(0.25)
                         : before.is_number()                ? Record(before.get<Index>() + 3)
                         : before.is_array()                 ? Record({5, 6})
                         : setting.name == "fold"            ? Record("2/3")
                         : setting.name == "without"         ? Record("decoder 0.1")
                         : setting.name == "split"           ? Record("cmusphinx")
                         : setting.name == "schedule"        ? Record("constant")
                         : setting.name == "optimizer"       ? Record("lamb")
                         : setting.name == "moments"         ? Record("keep")
                         : setting.name == "vocabulary"      ? Record{{"kind", "seq2seq"}}
                         : setting.name == "granularity"     ? Record("head")
                         : setting.name.ends_with("symbols") ? Record("words")
                                                             : Record("another");
    setting.set(settings, other, setting.name);
    const RunSettings again = RunSettings::from_record(settings.to_record(), "config.json");
    CHECK(setting.get(again) == other);
    CHECK(other != before);
  }
}

TEST_CASE("errors name a setting as the user wrote it") {
  const auto refused = [](GivenSettings given, const SettingNames& shown,
                          const std::string& words) {
    CHECK_THROWS_WITH(settings_of(small(std::move(given)), shown), Contains(words));
    CHECK_THROWS_AS(settings_of(small({{"clip", -1}}), shown), UsageError);
  };
  refused({{"stepz", 3}}, option_text, "--stepz is not a setting (did you mean steps?)");
  refused({{"clip", "x"}}, quoted_name, "\"clip\" must be a number, not \"x\"");
  refused({{"dropout", 1.5}}, option_text, "--dropout 1.5 is not in [0, 1)");
  refused({{"heads", 0}}, quoted_name, "\"heads\" 0 is less than 1");
  refused({{"lr", 0}}, option_text, "--lr 0 is not a positive number");
  refused({{"layers", 2.5}}, option_text, "--layers must be a 64-bit integer, not 2.5");
  refused({{"prune_from", 90}, {"prune_to", 80}}, quoted_name,
          "\"prune_from\" 90 and \"prune_to\" 80: \"prune_to\" must be greater");
  refused({{"regrow_every", 3}}, option_text, "--regrow-every needs --regrow SHARE");
  refused({{"schedule", "cosin"}}, option_text, "--schedule");
  refused({{"width", 64}, {"heads", 5}}, quoted_name, "\"heads\" 5 must divide \"width\" 64");
  CHECK_THROWS_WITH(settings_of({{"budget", "per_kind"}}, option_text),
                    Contains("--budget per_kind needs --prune N, --keep N or --remove HEADS"));
}

TEST_CASE("settings that are given change those of a finished run, and nothing else") {
  const Record old = parse_json(read_file(path_of(written_before()[1])), "rich");
  const auto changed = [&](const GivenSettings& given) {
    const RunSettings settings =
        settings_of(given, option_text, RunSettings::from_record(old, "rich"));
    return settings.to_record().flatten();
  };
  const Record before = changed({});
  CHECK(unordered(before) == unordered(old.flatten()));
  const auto differing = [&](const GivenSettings& given) {
    const Record after = changed(given);
    std::set<std::string> keys;
    for (const auto& [key, value] : after.items()) {
      if (!before.contains(key) || before[key] != value) keys.insert(key);
    }
    return keys;
  };
  CHECK(differing({{"clip", 1.0}}) == std::set<std::string>{"/training/clip"});
  CHECK(differing({{"seed", 8}}) == std::set<std::string>{"/task/seed"});
  CHECK(differing({{"prune", 4}}) == std::set<std::string>{"/pruning/remove"});
  CHECK(differing({{"prune_rounds", 6}}) ==
        std::set<std::string>{"/pruning/pace/iterative/rounds", "/pruning/pace/iterative/recover"});
  CHECK(differing({{"regrow_every", 3}}) == std::set<std::string>{"/pruning/regrowth/every"});
  CHECK(differing({{"optimizer", "lamb"}, {"learning_rate", 0.02}}) ==
        std::set<std::string>{"/training/optimizer"});
}
