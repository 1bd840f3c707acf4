// Records that nobody wrote: a sound one, some of whose members are gone, of another kind, or
// numbers that nobody expects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include "fuzz/fuzz.hpp"
#include "headroom/base/record_json.hpp"

inline headroom::Record some_value(FuzzedDataProvider& bytes) {
  using limits = std::numeric_limits<double>;
  switch (bytes.ConsumeIntegralInRange(0, 9)) {
    case 0: return nullptr;
    case 1: return bytes.ConsumeBool();
    case 2: return bytes.ConsumeIntegral<std::int64_t>();
    case 3: return bytes.ConsumeIntegralInRange(-3, 30);
    case 4: return bytes.PickValueInArray({0.3, 1e308, -1e308, 5e-324});
    case 5: return bytes.PickValueInArray({limits::quiet_NaN(), limits::infinity()});
    case 6: return bytes.PickValueInArray({"", "fused", "cross", "%", "</script>", "\xc3\xa9"});
    case 7: return headroom::Record::array();
    case 8: return headroom::Record::object();
    default: return headroom::Record::array({1, "two", nullptr});
  }
}

/// Removes a member of a record, at any depth, or changes it.
inline void change_some_member(headroom::Record& record, FuzzedDataProvider& bytes) {
  if (!record.is_structured() || record.empty()) {
    record = some_value(bytes);
    return;
  }
  const auto member = std::next(
      record.begin(), bytes.ConsumeIntegralInRange<std::ptrdiff_t>(0, std::ssize(record) - 1));
  switch (bytes.ConsumeIntegralInRange(0, 7)) {
    case 0: record.erase(member); break;
    case 1: *member = some_value(bytes); break;
    default: change_some_member(*member, bytes);
  }
}

inline headroom::Record other_record(headroom::Record record, FuzzedDataProvider& bytes) {
  while (bytes.remaining_bytes() > 0) change_some_member(record, bytes);
  return record;
}
