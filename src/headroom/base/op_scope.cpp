// The stack of running operations and the profile.
#include "headroom/base/op_scope.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>
#include <utility>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
thread_local OpScope* innermost = nullptr;
bool profile_is_on = false;

using Key = std::pair<std::string, Pass>;

std::map<Key, ProfileRow>& table() {
  static std::map<Key, ProfileRow> rows;
  return rows;
}
}  // namespace

OpScope::OpScope(const char* name, Pass pass) : name_(name), pass_(pass), outer_(innermost) {
  innermost = this;
  if (profile_is_on) begin_ = now();
}

OpScope::~OpScope() {
  innermost = outer_;
  if (!profile_is_on || begin_ == 0) return;
  const Nanoseconds total = now() - begin_;
  if (outer_ != nullptr) outer_->inner_time_ += total;
  ProfileRow& row = table()[{name_, pass_}];
  ++row.calls;
  row.seconds += 1e-9 * double(total - inner_time_);
  row.flops += flops_;
  row.bytes += bytes_;
}

OpScope::Nanoseconds OpScope::now() {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot).count();
}

OpScope* OpScope::current() { return innermost; }

void set_profiling(bool on) {
  if (on) table().clear();
  profile_is_on = on;
}

bool profiling() { return profile_is_on; }

std::vector<ProfileRow> profile() {
  std::vector<ProfileRow> rows;
  for (const auto& [key, row] : table()) {
    rows.push_back(row);
    std::tie(rows.back().name, rows.back().pass) = key;
  }
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return rows;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
