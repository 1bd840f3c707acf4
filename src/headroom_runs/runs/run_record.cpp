// Records of runs: numbers per model, heads as texts, and what must fit together.
#include "headroom_runs/runs/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/utf8.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::optional<double> PerModel::of(const std::string& model) const {
  for (const auto& [name, value] : values_) {
    if ((name.empty() || name == model) && std::isfinite(value)) return value;
  }
  return {};
}

std::optional<double> PerModel::mean() const {
  double sum = 0;
  Index count = 0;
  for (const auto& [name, value] : values_) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / double(count));
}

std::optional<std::pair<double, double>> PerModel::range() const {
  std::optional<std::pair<double, double>> range;
  for (const auto& [name, value] : values_) {
    if (!std::isfinite(value)) continue;
    range = range ? std::pair(std::min(range->first, value), std::max(range->second, value))
                  : std::pair(value, value);
  }
  return range;
}

Record json_of(const PerModel& numbers) {
  if (!numbers.given()) return {};
  if (!numbers.by_model()) return json_of(numbers.values()[0].second);
  Record record = Record::object();
  for (const auto& [model, value] : numbers.values()) record[model] = json_of(value);
  return record;
}

void read_json(const JsonNode& from, PerModel& to) {
  const Record& value = from.value();
  if (!value.is_number() && !value.is_null() && !value.is_object()) {
    from.must_be("a number or an object of numbers by model");
  }
  std::vector<std::pair<std::string, double>> values;
  if (value.is_number()) values.emplace_back("", value.get<double>());
  if (value.is_object()) {
    for (const auto& [model, number] : value.items()) {
      const JsonNode element(number, from, model.c_str());
      if (model.empty()) from.fail("a model without a name");
      read_json(element, values.emplace_back(model, 0).second);
    }
  }
  to = PerModel(std::move(values));
}

std::optional<double> MetricsLine::number(const std::string& key) const {
  const auto found = numbers.find(key);
  return found != numbers.end() && std::isfinite(found->second) ? std::optional(found->second)
                                                                : std::nullopt;
}

namespace {

/// A map has a row per query and a weight per key of its example.
void check_map(const MapRecord& map, const ExampleRecord& example, const std::string& where) {
  const auto& queries =
      map.id.kind == AttentionKind::encoder_self ? example.source : example.target;
  const auto& keys = map.id.kind != AttentionKind::decoder_self ? example.source
                     : example.decoder_input.empty()            ? example.target
                                                                : example.decoder_input;
  if (map.rows.size() != queries.size()) {
    throw DataError(
        fmt::format("{}.rows has {} rows for {} tokens", where, map.rows.size(), queries.size()));
  }
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    if (map.rows[i].size() == keys.size()) continue;
    throw DataError(fmt::format("{}.rows[{}] has {} weights for {} tokens", where, i,
                                map.rows[i].size(), keys.size()));
  }
}

/// A list has a value for each head.
void check_count(const std::vector<double>& numbers, const std::vector<HeadId>& heads,
                 const std::string& where) {
  if (numbers.size() == heads.size()) return;
  throw DataError(
      fmt::format("{} has {} values for {} heads", where, numbers.size(), heads.size()));
}

void check_telemetry(const TelemetryLine& line, const std::string& where) {
  const auto check_list = [&](const std::string& name, const std::vector<double>& numbers) {
    check_count(numbers, line.heads, where + "." + name);
  };
  const auto check_blocks = [&](const std::string& name, const BlockNumbers& blocks) {
    BlockNumbers::Fields::each([&](const char* block, auto member, Presence) {
      check_list(fmt::format("{}.{}", name, block), blocks.*member);
    });
  };
  check_blocks("gradient_norm", line.gradient_norm);
  check_list("gate_gradient", line.gate_gradient);
  check_list("entropy", line.entropy);
  check_list("confidence", line.confidence);
  check_blocks("update_ratio", line.update_ratio);
}

void check_maps(const ExampleRecord& example, const std::string& where) {
  for (std::size_t i = 0; i < example.maps.size(); ++i) {
    check_map(example.maps[i], example, fmt::format("{}.maps[{}]", where, i));
  }
}

void check_life(const LifeLine& line, const std::string& where) {
  check_count(line.gate_gradient, line.heads, where + ".gate_gradient");
  check_count(line.cost, line.heads, where + ".cost");
  if (line.example) check_maps(*line.example, where + ".example");
}

/// `list`: the name of the list of which `first` is the first line.
template <class Line>
void check_same_model(const Line& line, const Line& first, const std::string& where,
                      const char* list) {
  if (line.model == first.model) return;
  throw DataError(fmt::format("{}.model must be \"{}\" as in {}[0], not \"{}\"", where,
                              printable(first.model), list, printable(line.model)));
}

}  // namespace

void add_log_line(const Record& line, const std::string& origin, RunRecord& run) {
  if (!line.is_object()) throw DataError(origin + " must be a JSON object");
  if (!line.contains("step")) return;
  if (!line.contains("record")) {
    run.metrics.push_back(struct_of<MetricsLine>(line, origin));
    return;
  }
  if (line["record"] == name_of(LineKind::lives)) {
    const std::string where = origin + ": lives";
    run.lives.push_back(struct_of<LifeLine>(line, origin));
    check_life(run.lives.back(), where);
    check_same_model(run.lives.back(), run.lives[0], where, "lives");
    return;
  }
  const std::string where = origin + ": telemetry";
  run.telemetry.push_back(struct_of<TelemetryLine>(line, origin));
  check_telemetry(run.telemetry.back(), where);
  check_same_model(run.telemetry.back(), run.telemetry[0], where, "telemetry");
}

void check(const RunRecord& run, const std::string& origin) {
  for (std::size_t i = 0; i < run.telemetry.size(); ++i) {
    const std::string where = fmt::format("{}: telemetry[{}]", origin, i);
    check_telemetry(run.telemetry[i], where);
    check_same_model(run.telemetry[i], run.telemetry[0], where, "telemetry");
  }
  for (std::size_t i = 0; i < run.lives.size(); ++i) {
    const std::string where = fmt::format("{}: lives[{}]", origin, i);
    check_life(run.lives[i], where);
    check_same_model(run.lives[i], run.lives[0], where, "lives");
  }
  check_timeline(run.timeline, origin);
  for (std::size_t i = 0; i < run.examples.size(); ++i) {
    check_maps(run.examples[i], fmt::format("{}: examples[{}]", origin, i));
  }
  for (const auto& [name, facts] :
       {std::pair("config", &run.config), std::pair("environment", &run.environment)}) {
    if (!facts->is_object()) throw DataError(fmt::format("{}: {} must be an object", origin, name));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
