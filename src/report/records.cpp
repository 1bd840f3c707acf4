// Reading numbers out of a run's records, and refusing records that are not of the schema.
#include "report/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/train/measures.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

enum class Kind { text, integer, integer_or_null, number, numbers, list, texts, object };

const char* wanted(Kind kind) {
  switch (kind) {
    case Kind::text: return "a text";
    case Kind::integer: return "a whole number";
    case Kind::integer_or_null: return "a whole number or null";
    case Kind::number: return "a number";
    case Kind::numbers: return "a number or an object of numbers by model";
    case Kind::list: return "a list";
    case Kind::texts: return "a list of texts";
    case Kind::object: return "an object";
  }
  return "";
}

bool is_number(const Record& value) { return value.is_number() || value.is_null(); }

bool is_kind(const Record& value, Kind kind) {
  const auto all = [&value](auto holds) { return std::all_of(value.begin(), value.end(), holds); };
  switch (kind) {
    case Kind::text: return value.is_string();
    case Kind::integer: return value.is_number_integer();
    case Kind::integer_or_null: return value.is_number_integer() || value.is_null();
    case Kind::number: return is_number(value);
    case Kind::numbers: return is_number(value) || (value.is_object() && all(is_number));
    case Kind::list: return value.is_array();
    case Kind::texts:
      return value.is_array() && all([](const Record& text) { return text.is_string(); });
    case Kind::object: return value.is_object();
  }
  return false;
}

struct Field {
  const char* key;
  Kind kind;
  bool required = false;
};

void check_fields(const Record& record, const std::string& where,
                  std::initializer_list<Field> fields) {
  if (!record.is_object()) throw DataError(fmt::format("report: {} must be an object", where));
  for (const Field& field : fields) {
    const auto found = record.find(field.key);
    if (found == record.end()) {
      if (field.required)
        throw DataError(fmt::format("report: {}.{} is missing", where, field.key));
      continue;
    }
    if (!is_kind(*found, field.kind)) {
      throw DataError(
          fmt::format("report: {}.{} must be {}", where, field.key, wanted(field.kind)));
    }
  }
}

void check_rows(const Record& run, const char* key, std::initializer_list<Field> fields) {
  const Record& rows = list_of(run, key);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    check_fields(rows[i], fmt::format("{}[{}]", key, i), fields);
  }
}

void check_attention_kind(const Record& record, const std::string& where) {
  const std::string kind = record["kind"].get<std::string>();
  if (kind != "encoder" && kind != "decoder" && kind != "cross") {
    throw DataError(
        fmt::format("report: {}.kind \"{}\" is none of encoder, decoder, cross", where, kind));
  }
}

/// A map has a row per query and a weight per key of its example.
void check_map(const Record& map, const Record& example, const std::string& where) {
  check_fields(map, where,
               {{"kind", Kind::text, true},
                {"layer", Kind::integer, true},
                {"head", Kind::integer, true},
                {"rows", Kind::list, true}});
  check_attention_kind(map, where);
  const std::string kind = map["kind"].get<std::string>();
  const char* queries = kind == "encoder" ? "source" : "target";
  // Without decoder_input the page shows the target shifted right, which is as long.
  const char* keys = kind != "decoder"                   ? "source"
                     : example.contains("decoder_input") ? "decoder_input"
                                                         : "target";
  const std::size_t tq = list_of(example, queries).size(), tk = list_of(example, keys).size();
  if (map["rows"].size() != tq) {
    throw DataError(
        fmt::format("report: {}.rows has {} rows for {} tokens", where, map["rows"].size(), tq));
  }
  for (const Record& row : map["rows"]) {
    if (!row.is_array() || row.size() != tk || !std::all_of(row.begin(), row.end(), is_number)) {
      throw DataError(fmt::format("report: {}.rows must hold {} numbers each", where, tk));
    }
  }
}

void check_head_name(const Record& name, const std::string& where) {
  const std::string text = name.get<std::string>();
  const auto digits = [&text](std::size_t begin, std::size_t end) {
    return begin < end && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                      text.begin() + static_cast<std::ptrdiff_t>(end),
                                      [](char c) { return c >= '0' && c <= '9'; });
  };
  const std::size_t space = text.find(' '), point = text.find('.');
  if (space != std::string::npos && point != std::string::npos && digits(space + 1, point) &&
      digits(point + 1, text.size())) {
    check_attention_kind({{"kind", text.substr(0, space)}}, where);
    return;
  }
  throw DataError(fmt::format("report: {} \"{}\" is no head (\"cross 0.3\")", where, text));
}

/// A number for every head under `key`.
void check_head_numbers(const Record& record, const char* key, std::size_t heads,
                        const std::string& where) {
  check_fields(record, where, {{key, Kind::list, true}});
  const Record& numbers = record[key];
  if (numbers.size() == heads && std::all_of(numbers.begin(), numbers.end(), is_number)) return;
  throw DataError(
      fmt::format("report: {}.{} must hold a number for each of the {} heads", where, key, heads));
}

/// Lines of HeadTelemetry, all of one model.
void check_telemetry(const Record& run) {
  check_rows(run, "telemetry",
             {{"step", Kind::integer, true},
              {"model", Kind::text},
              {"heads", Kind::texts, true},
              {"gradient_norm", Kind::object, true},
              {"update_ratio", Kind::object, true}});
  const Record& lines = list_of(run, "telemetry");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string where = fmt::format("telemetry[{}]", i);
    const Record& line = lines[i];
    for (const Record& head : line["heads"]) check_head_name(head, where + ".heads");
    for (const char* key : {"gate_gradient", "entropy", "confidence"}) {
      check_head_numbers(line, key, line["heads"].size(), where);
    }
    for (const std::string key : {"gradient_norm", "update_ratio"}) {
      for (const char* block : {"query", "key", "value", "output"}) {
        check_head_numbers(line[key], block, line["heads"].size(), where + "." + key);
      }
    }
    if (line.value("model", "") != lines[0].value("model", "")) {
      throw DataError(fmt::format("report: {}.model is another one than before", where));
    }
  }
}

}  // namespace

void check_run(const Record& run) {
  check_fields(run, "run",
               {{"title", Kind::text, true},
                {"task", Kind::text},
                {"seed", Kind::integer},
                {"command", Kind::text},
                {"models", Kind::texts},
                {"metrics", Kind::list},
                {"telemetry", Kind::list},
                {"measures", Kind::list},
                {"separate_vs_fused", Kind::object},
                {"differences", Kind::list},
                {"parted_at", Kind::object},
                {"heads", Kind::list},
                {"importance_name", Kind::text},
                {"cost_name", Kind::text},
                {"schedule", Kind::list},
                {"before_after", Kind::list},
                {"examples", Kind::list},
                {"config", Kind::object},
                {"environment", Kind::object}});
  check_rows(run, "metrics", {{"step", Kind::integer, true}, {"model", Kind::text}});
  check_rows(run, "measures",
             {{"key", Kind::text, true},
              {"name", Kind::text, true},
              {"unit", Kind::text},
              {"better", Kind::text},
              {"goal", Kind::number}});
  check_rows(run, "differences",
             {{"step", Kind::integer, true},
              {"forward", Kind::number},
              {"parameter", Kind::number},
              {"key_bias", Kind::number}});
  check_rows(run, "heads",
             {{"kind", Kind::text, true},
              {"layer", Kind::integer, true},
              {"head", Kind::integer, true},
              {"removed_at", Kind::integer_or_null},
              {"importance", Kind::numbers},
              {"cost", Kind::number}});
  check_rows(run, "schedule", {{"step", Kind::integer, true}, {"alive", Kind::integer, true}});
  check_rows(run, "before_after",
             {{"label", Kind::text, true},
              {"exact_match", Kind::numbers},
              {"step_ms", Kind::numbers},
              {"attention_ms", Kind::numbers},
              {"parameters", Kind::numbers},
              {"memory_bytes", Kind::numbers}});
  check_rows(run, "examples",
             {{"source", Kind::texts},
              {"target", Kind::texts},
              {"decoder_input", Kind::texts},
              {"maps", Kind::list, true}});
  if (run.contains("separate_vs_fused")) {
    check_fields(run["separate_vs_fused"], "separate_vs_fused",
                 {{"forward", Kind::number},
                  {"parameter_gradient", Kind::number},
                  {"input_gradient", Kind::number},
                  {"tolerance", Kind::number}});
  }
  if (run.contains("parted_at")) {
    check_fields(run["parted_at"], "parted_at",
                 {{"step", Kind::integer_or_null, true}, {"threshold", Kind::number, true}});
  }
  check_telemetry(run);
  const Record& heads = list_of(run, "heads");
  for (std::size_t i = 0; i < heads.size(); ++i) {
    check_attention_kind(heads[i], fmt::format("heads[{}]", i));
  }
  const Record& examples = list_of(run, "examples");
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Record& maps = examples[i]["maps"];
    for (std::size_t j = 0; j < maps.size(); ++j) {
      check_map(maps[j], examples[i], fmt::format("examples[{}].maps[{}]", i, j));
    }
  }
}

const Record& list_of(const Record& record, const char* key) {
  static const Record none = Record::array();
  const auto found = record.find(key);
  return found == record.end() || !found->is_array() ? none : *found;
}

std::optional<double> number_in(const Record& record, const char* key) {
  const auto found = record.find(key);
  if (found == record.end() || !found->is_number()) return {};
  const double value = found->get<double>();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<double> number_in(const Record& record, const char* key, const std::string& model) {
  const auto found = record.find(key);
  if (found == record.end() || !found->is_object()) return number_in(record, key);
  if (!model.empty()) return number_in(*found, model.c_str());
  double sum = 0;
  Index count = 0;
  for (const Record& value : *found) {
    if (!value.is_number()) continue;
    sum += value.get<double>();
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

std::optional<std::pair<double, double>> range_in(const Record& record, const char* key) {
  const auto found = record.find(key);
  if (found == record.end()) return {};
  if (!found->is_object()) {
    const auto number = number_in(record, key);
    return number ? std::optional(std::pair(*number, *number)) : std::nullopt;
  }
  std::optional<std::pair<double, double>> range;
  for (const Record& value : *found) {
    if (!value.is_number()) continue;
    const double number = value.get<double>();
    range = range ? std::pair(std::min(range->first, number), std::max(range->second, number))
                  : std::pair(number, number);
  }
  return range;
}

std::vector<std::string> models_of(const Record& run) {
  std::vector<std::string> models;
  for (const Record& model : list_of(run, "models")) models.push_back(model.get<std::string>());
  for (const Record& line : list_of(run, "metrics")) {
    const std::string model = line.value("model", "model");
    if (std::find(models.begin(), models.end(), model) == models.end()) models.push_back(model);
  }
  return models;
}

Record measures_of(const Record& run) {
  if (run.contains("measures")) return run["measures"];
  Record measures = Record::array();
  const Record& lines = list_of(run, "metrics");
  for (const Measure& measure : quality_measures) {
    const bool occurs = std::any_of(lines.begin(), lines.end(), [&measure](const Record& line) {
      return number_in(line, measure.key).has_value();
    });
    if (!occurs) continue;
    measures.push_back({{"key", measure.key},
                        {"name", measure.name},
                        {"unit", "%"},
                        {"better", measure.higher_is_better ? "higher" : "lower"}});
  }
  return measures;
}

std::vector<Point> series_of(const Record& run, const std::string& model, const char* key) {
  std::vector<Point> series;
  for (const Record& line : list_of(run, "metrics")) {
    if (line.value("model", "model") != model) continue;
    if (const auto value = number_in(line, key)) {
      series.push_back({line["step"].get<Index>(), *value});
    }
  }
  return series;
}

std::string head_text(const Record& head) {
  return fmt::format("{} {}.{}", head["kind"].get<std::string>(), head["layer"].get<Index>(),
                     head["head"].get<Index>());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
