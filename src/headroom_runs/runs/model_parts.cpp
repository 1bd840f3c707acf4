// Frozen parts of models, and parts with their own learning rates.
#include "headroom_runs/runs/model_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_foreign/folders/name_table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    items.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

/// A part and its factor: "classifier=10".
std::pair<std::string, double> rate_of(const std::string& item, const std::string& shown) {
  const std::size_t sign = item.rfind('=');
  double factor = 0;
  std::size_t read = 0;
  try {
    if (sign != item.npos) factor = std::stod(item.substr(sign + 1), &read);
  } catch (const std::exception&) {  // no number, or none that fits
  }
  const bool right =
      sign != item.npos && sign > 0 && sign + 1 + read == item.size() && factor > 0 && factor < 1e9;
  if (right) return {item.substr(0, sign), factor};
  throw UsageError(
      fmt::format("{} \"{}\" is not a part with a factor above 0 and below 1e9, such as "
                  "classifier=10",
                  shown, printable(item)));
}

/// The names that each parameter has: ours and, of a model of a folder, the one there.
std::map<std::string, std::vector<std::string>> names_of(Learner& learner) {
  std::map<std::string, std::vector<std::string>> names;
  for (const NamedParameter& one : parameters(learner.model())) names[one.name] = {one.name};
  const Record about = learner.about();
  const ModelConfig* const config = config_of(learner.model());
  if (!about.contains("architecture") || config == nullptr) return names;
  const NameTable& table = names_of_architecture(about["architecture"].get<std::string>(), *config);
  for (const auto& [ours, theirs] : foreign_names(learner.model(), table)) {
    names[ours].insert(names[ours].end(), theirs.begin(), theirs.end());
  }
  return names;
}

using Names = std::map<std::string, std::vector<std::string>>;

/// Whether a parameter belongs to one of the parts.
bool belongs(const Names& names, const std::string& parameter,
             const std::vector<std::string>& parts) {
  const auto found = names.find(parameter);
  if (found == names.end()) return false;
  return std::ranges::any_of(parts, [&](const std::string& part) {
    return std::ranges::any_of(
        found->second, [&](const std::string& name) { return name.find(part) != name.npos; });
  });
}

[[noreturn]] void refuse_unknown(const Names& names, const std::string& part) {
  throw UsageError(fmt::format("no parameter's name contains \"{}\"; names are such as {} or {}",
                               printable(part), names.begin()->second.back(),
                               names.rbegin()->second.back()));
}

/// Throws UsageError unless the part consists of whole parameters.
void require_part(const Names& names, const std::string& part) {
  const bool known = !part.empty() && std::ranges::any_of(names, [&](const auto& one) {
    return belongs(names, one.first, {part});
  });
  if (!known) refuse_unknown(names, part);
  for (const auto& [ours, all] : names) {
    const auto count = std::ranges::count_if(
        all, [&](const std::string& name) { return name.find(part) != name.npos; });
    // Ours is the first name.
    if (count == 0 || ours.find(part) != ours.npos || count + 1 == std::ssize(all)) continue;
    throw UsageError(fmt::format(
        "\"{}\" is part of a matrix that is trained as a whole; use a text in all of {}",
        printable(part), fmt::join(all.begin() + 1, all.end(), ", ")));
  }
}

}  // namespace

void check(const PartRules& rules, const std::string& freeze, const std::string& rates) {
  for (const std::string& item : items_of(rules.freeze)) {
    if (item.empty()) throw UsageError(freeze + " has an empty part");
  }
  std::set<std::string> parts;
  for (const std::string& item : items_of(rules.rates)) {
    const std::string part = rate_of(item, rates).first;
    if (parts.insert(part).second) continue;
    throw UsageError(fmt::format("{}: \"{}\" is there twice", rates, printable(part)));
  }
}

void check(const PartRules& rules, Learner& learner) {
  if (rules.freeze.empty() && rules.rates.empty()) return;
  const Names names = names_of(learner);
  const std::vector<std::string> frozen = items_of(rules.freeze);
  for (const std::string& part : frozen) require_part(names, part);
  for (const std::string& item : items_of(rules.rates)) {
    require_part(names, rate_of(item, "a rate").first);
  }
  const bool all = std::ranges::all_of(parameters(learner.model()), [&](const NamedParameter& one) {
    return !one.tensor.requires_grad() || belongs(names, one.name, frozen);
  });
  if (all) throw UsageError("all parameters are frozen; nothing is left to train");
}

std::vector<ParameterGroup> apply_rules(const PartRules& rules, Learner& learner) {
  if (rules.freeze.empty() && rules.rates.empty()) return {};
  check(rules, learner);
  const Names names = names_of(learner);
  const std::vector<std::string> frozen = items_of(rules.freeze);
  for (NamedParameter& one : parameters(learner.model())) {
    if (belongs(names, one.name, frozen)) one.tensor.set_requires_grad(false);
  }
  std::vector<ParameterGroup> groups;
  const ParameterGroup vectors = no_decay_of_vectors();
  for (const std::string& item : items_of(rules.rates)) {
    const auto [part, factor] = rate_of(item, "a rate");
    const auto holds = [names, part = part](const NamedParameter& one) {
      return belongs(names, one.name, {part});
    };
    groups.push_back(
        {[holds, vectors](const NamedParameter& one) { return holds(one) && vectors.holds(one); },
         factor, vectors.weight_decay});
    groups.push_back({holds, factor, {}});
  }
  return groups;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
