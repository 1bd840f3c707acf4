// The stack of running operations and the profile.
#include "headroom/base/op_scope.hpp"

#include <algorithm>
#include <map>

namespace headroom::inline HEADROOM_PRECISION {

namespace {
thread_local OpScope* innermost = nullptr;
bool profiling = false;

std::map<std::string, ProfileRow>& table() {
  static std::map<std::string, ProfileRow> rows;
  return rows;
}
}  // namespace

OpScope::OpScope(const char* name) : name_(name), outer_(innermost) {
  innermost = this;
  if (profiling) begin_ = Clock::now();
}

OpScope::~OpScope() {
  innermost = outer_;
  if (!profiling || begin_ == Clock::time_point{}) return;
  const Clock::duration total = Clock::now() - begin_;
  if (outer_ != nullptr) outer_->inner_time_ += total;
  ProfileRow& row = table()[name_];
  ++row.calls;
  row.seconds += std::chrono::duration<double>(total - inner_time_).count();
  row.flops += flops_;
  row.bytes += bytes_;
}

OpScope* OpScope::current() { return innermost; }

void set_profiling(bool on) {
  if (on) table().clear();
  profiling = on;
}

std::vector<ProfileRow> profile() {
  std::vector<ProfileRow> rows;
  for (const auto& [name, row] : table()) {
    rows.push_back(row);
    rows.back().name = name;
  }
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return rows;
}

}  // namespace headroom::inline HEADROOM_PRECISION
