// Registry: entries by name, those of headroom and those that a program adds.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/base/nearest.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Metrics, choosers, layouts, tasks, experiments ...: an Entry has a `name`, or an `info` with
/// one, and a function `make` or `run`. Entries never move, so pointers to them stay valid.
template <class Entry>
class Registry {
 public:
  /// `what` is an entry in words: "metric".
  Registry(const char* what, std::deque<Entry> own) : what_(what), entries_(std::move(own)) {}

  /// Headroom's in their order, then the added ones.
  const std::deque<Entry>& all() const { return entries_; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) names.push_back(name_of_entry(entry));
    return names;
  }

  /// The entry of this name; nullptr if there is none.
  const Entry* find(std::string_view name) const {
    for (const Entry& entry : entries_) {
      if (name_of_entry(entry) == name) return &entry;
    }
    return nullptr;
  }
  /// `origin` says where the name was read. Throws UsageError: `config.json: "fussed" is not one of
  /// separate, fused, shared (did you mean fused?)`; of a long list only the nearest name.
  const Entry& at(const std::string& name, const std::string& origin) const {
    if (const Entry* const found = find(name)) return *found;
    const bool many = entries_.size() > most_listed;
    const std::string error = many ? "is unknown" : "is not one of " + list();
    throw UsageError(origin + ": \"" + name + "\" " + error + did_you_mean(name, names()));
  }
  /// "separate, fused, shared"
  std::string list() const {
    std::string text;
    for (const std::string& name : names()) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  /// Throws UsageError for an entry without a name or a function, and for a name that is taken.
  void add(Entry entry) {
    const std::string name = name_of_entry(entry);
    const auto refuse = [&](const std::string& why) {
      throw UsageError(std::string("a ") + what_ + " cannot be added: " + why);
    };
    if (name.empty()) refuse("it needs a name");
    if (find(name) != nullptr) refuse(name + " exists already");
    if (!has_function(entry)) refuse(name + " has no function");
    entries_.push_back(std::move(entry));
  }

 private:
  static constexpr std::size_t most_listed = 12;  // more would not fit into one line

  static const std::string& name_of_entry(const Entry& entry) {
    if constexpr (requires { entry.info; }) {
      return entry.info.name;
    } else {
      return entry.name;
    }
  }
  static bool has_function(const Entry& entry) {
    if constexpr (requires { entry.make; }) {
      return bool(entry.make);
    } else {
      return bool(entry.run);
    }
  }

  const char* what_;
  std::deque<Entry> entries_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
