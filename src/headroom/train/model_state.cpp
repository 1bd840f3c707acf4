// A model as a part of a checkpoint.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/io/json.hpp"
#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

bool contains(std::span<const HeadId> heads, const HeadId& head) {
  return std::find(heads.begin(), heads.end(), head) != heads.end();
}

AttentionKind kind_from(const std::string& name, const std::string& origin) {
  for (const AttentionKind kind : all_of<AttentionKind>()) {
    if (name == name_of(kind)) return kind;
  }
  throw FileError(fmt::format("{}: \"{}\" is not a kind of attention", origin, name));
}

/// Throws FileError with the first key in which two configurations differ.
void check_same_config(const Record& saved, const Record& ours, const std::string& origin) {
  for (const auto& [key, value] : ours.items()) {
    const Record theirs = saved.is_object() && saved.contains(key) ? saved[key] : Record();
    if (theirs == value) continue;
    throw FileError(fmt::format("{}: the saved model has {} {}, this one {}", origin, key,
                                theirs.dump(), value.dump()));
  }
}

/// The live heads that the saved model had lost.
std::vector<HeadId> still_to_remove(Module& model, const StateReader& from) {
  const std::vector<HeadId> saved = read_removed(from), gone = removed_heads(model),
                            alive = live_heads(model);
  for (const HeadId& head : gone) {
    if (contains(saved, head)) continue;
    throw FileError(fmt::format("{}: the saved model has head {}, which is removed here",
                                from.where("removed"), head.text()));
  }
  std::vector<HeadId> result;
  for (const HeadId& head : saved) {
    if (contains(gone, head)) continue;
    if (!contains(alive, head) || contains(result, head)) {
      throw FileError(
          fmt::format("{}: there is no head {} to remove", from.where("removed"), head.text()));
    }
    result.push_back(head);
  }
  return result;
}

}  // namespace

const ModelConfig* config_of(const Module& model) {
  if (const auto* seq2seq = dynamic_cast<const Seq2Seq*>(&model)) return &seq2seq->config;
  if (const auto* language = dynamic_cast<const LanguageModel*>(&model)) return &language->config;
  if (const auto* encoder = dynamic_cast<const TextEncoder*>(&model)) return &encoder->config;
  return nullptr;
}

std::vector<HeadId> read_removed(const StateReader& from) {
  const Record list = from.record("removed");
  const std::string origin = from.where("removed");
  if (!list.is_array()) throw FileError(fmt::format("{}: is not a list of heads", origin));
  std::vector<HeadId> removed;
  for (const Record& head : list) {
    if (!head.is_object()) throw FileError(fmt::format("{}: is not a list of heads", origin));
    removed.push_back({kind_from(json_text(head, "kind", origin), origin),
                       json_integer(head, "layer", origin), json_integer(head, "head", origin)});
  }
  return removed;
}

void ModelState::save_state(StateWriter to) const {
  if (const ModelConfig* config = config_of(*model_)) to.record("config", config->to_record());
  Record removed = Record::array();
  for (const HeadId& head : removed_heads(*model_)) {
    Record entry = Record::object();
    entry["kind"] = name_of(head.kind);
    entry["layer"] = head.layer;
    entry["head"] = head.head;
    removed.push_back(entry);
  }
  to.record("removed", removed);
  for (const NamedParameter& parameter : parameters(*model_)) {
    to.array(parameter.name, parameter.tensor.value());
  }
}

void ModelState::load_state(const StateReader& from) {
  if (const ModelConfig* config = config_of(*model_)) {
    check_same_config(from.record("config"), config->to_record(), from.where("config"));
  }
  prune(*model_, still_to_remove(*model_, from));

  std::vector<NamedParameter> all = parameters(*model_);
  std::vector<Array> values;
  std::set<std::string> names;
  for (const NamedParameter& parameter : all) {  // all are checked before any is replaced
    values.push_back(from.array(parameter.name, parameter.tensor.shape(), rounding_));
    names.insert(parameter.name);
  }
  for (const std::string& name : from.tensor_names()) {
    if (names.contains(name)) continue;
    throw FileError(fmt::format("{}: the model has no such parameter", from.where(name)));
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].tensor.set_value(std::move(values[i]));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
