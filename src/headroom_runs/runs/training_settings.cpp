// TrainingSettings to and from config.json.
#include "headroom_runs/runs/training_settings.hpp"

#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Calls visit(section, key, reference) for every field except the model, so that both directions
/// share one list.
template <class Settings, class Visit>
void fields(Settings& s, Visit visit) {
  visit("task", "name", s.task);
  visit("task", "data", s.data.data);
  visit("task", "seed", s.data.seed);
  visit("task", "skip_bad_lines", s.data.skip_bad_lines);
  visit("task", "stress", s.data.stress);
  visit("training", "schedule", s.rate.shape);
  visit("training", "steps", s.steps);
  visit("training", "batch_size", s.learner.batch_size);
  visit("training", "length", s.learner.length);
  visit("training", "label_smoothing", s.learner.label_smoothing);
  visit("training", "peak_rate", s.rate.peak);
  visit("training", "warmup", s.rate.warmup);
  visit("training", "final_rate", s.rate.floor);
  visit("training", "clip", s.clip);
  visit("training", "weight_decay", s.optimizer.weight_decay);
  visit("training", "beta2", s.optimizer.beta2);
  visit("training", "evaluate_every", s.evaluate_every);
  visit("training", "save_every", s.save_every);
  visit("training", "telemetry", s.telemetry);
}

/// The same for fields that few programs set. config.json has those that are not the default.
template <class Settings, class Visit>
void rare_fields(Settings& s, Visit visit) {
  visit("task", "train", s.data.train);
  visit("task", "validation", s.data.validation);
  visit("task", "test", s.data.test);
  visit("task", "fold", s.fold);
  visit("training", "optimizer", s.optimizer.kind);
  visit("training", "granularity", s.optimizer.granularity);
  visit("training", "evaluated_examples", s.learner.quick);
  visit("training", "rate_function", s.rate_function);
  visit("training", "schedule_steps", s.rate.steps);
  visit("training", "snapshots", s.snapshots);
  visit("training", "init", s.learner.init);
}

// Each type of field is written by one of these ...
Record written(const std::string& v) { return v; }
Record written(const std::filesystem::path& v) { return v.string(); }
Record written(const std::vector<Index>& v) { return v; }
Record written(const Fold& v) { return v.text(); }
template <class Enum>
requires std::is_enum_v<Enum> Record written(Enum v) { return name_of(v); }
template <class Number>
requires std::is_arithmetic_v<Number> Record written(Number v) {
  if constexpr (std::is_same_v<Number, Real>) return shortest_number(v);
  return v;
}

// ... and read by one of these.
struct JsonField {
  const Record& section;
  const char* key;
  const std::string& origin;

  void into(std::string& v) const { v = json_text(section, key, origin); }
  void into(std::filesystem::path& v) const { v = json_text(section, key, origin); }
  void into(std::vector<Index>& v) const {
    v.clear();
    if (!section.contains(key) || !section[key].is_array()) {
      throw FileError(fmt::format("{}: \"{}\" must be a list of whole numbers", origin, key));
    }
    for (const Record& entry : section[key]) v.push_back(json_integer({{key, entry}}, key, origin));
  }
  void into(Fold& v) const { v = fold_from(json_text(section, key, origin), "\"fold\""); }
  void into(bool& v) const { v = json_boolean(section, key, origin); }
  void into(Index& v) const { v = json_integer(section, key, origin); }
  void into(std::uint64_t& v) const {
    if (!section.contains(key) || !section[key].is_number_unsigned()) {
      throw FileError(fmt::format("{}: \"{}\" must be a whole number from 0", origin, key));
    }
    v = section[key].get<std::uint64_t>();
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void into(Enum& v) const { v = from_name<Enum>(key, json_text(section, key, origin)); }
  template <class Number>
  requires std::is_floating_point_v<Number>
  void into(Number& v) const { v = static_cast<Number>(json_number(section, key, origin)); }
};

}  // namespace

void TrainingSettings::check_counts(
    const std::function<std::string(const std::string& key)>& name) const {
  const auto most = [](std::string_view key) -> Index {
    if (key == "batch_size" || key == "length") return 1'000'000;
    if (key == "train" || key == "validation" || key == "test") return 100'000'000;
    return 1'000'000'000'000;  // steps
  };
  const auto check = [&]<class Field>(const char*, const char* key, const Field& value) {
    if constexpr (std::is_same_v<Field, Index>) {
      if (value < 0) throw UsageError(fmt::format("{} {} is negative", name(key), value));
      if (value <= most(key)) return;
      throw UsageError(fmt::format("{} {} is more than {}", name(key), value, most(key)));
    }
  };
  fields(*this, check);
  rare_fields(*this, check);
}

Task TrainingSettings::make_task() const {
  return hold_out(HEADROOM_PRECISION::make_task(task, data), fold);
}

void TrainingSettings::derive() {
  learner.seed = data.seed;
  rate.steps = steps;
  data.window = learner.length;
}

Record TrainingSettings::to_record() const {
  Record record = {
      {"task", Record::object()}, {"model", model.to_record()}, {"training", Record::object()}};
  fields(*this, [&](const char* section, const char* key, const auto& value) {
    record[section][key] = written(value);
  });
  TrainingSettings usual;
  usual.steps = steps;
  usual.derive();
  Record defaults;
  rare_fields(usual, [&](const char* section, const char* key, const auto& value) {
    defaults[section][key] = written(value);
  });
  rare_fields(*this, [&](const char* section, const char* key, const auto& value) {
    if (defaults[section][key] != written(value)) record[section][key] = written(value);
  });
  return record;
}

TrainingSettings TrainingSettings::from_record(const Record& record, const std::string& origin) {
  const auto part = [&](const char* key) -> const Record& {
    if (!record.is_object() || !record.contains(key)) {
      throw FileError(fmt::format("{}: no \"{}\" in it", origin, key));
    }
    if (!record[key].is_object()) {
      throw FileError(fmt::format("{}: \"{}\" must be an object", origin, key));
    }
    return record[key];
  };
  TrainingSettings s;
  try {
    s.model = ModelConfig::from_record(part("model"));
    fields(s, [&](const char* section, const char* key, auto& value) {
      JsonField{part(section), key, origin}.into(value);
    });
    s.derive();
    rare_fields(s, [&](const char* section, const char* key, auto& value) {
      if (part(section).contains(key)) JsonField{part(section), key, origin}.into(value);
    });
    s.check_counts([](const std::string& key) { return "\"" + key + "\""; });
  } catch (const UsageError& error) {
    throw FileError(fmt::format("{}: {}", origin, error.what()));
  }
  return s;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
