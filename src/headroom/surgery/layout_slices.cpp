// Laws 4 and 5 of attention layouts: the slices.
#include <algorithm>
#include <set>

#include "surgery/layout_laws.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace layout_laws {

namespace {

void check_cover(const std::string& name, const Shape& shape, std::vector<HeadSlice> slices,
                 const std::string& state) {
  std::ranges::stable_sort(slices, {}, &HeadSlice::begin);
  const int axis = slices.empty() ? 0 : slices.front().axis;
  require(axis >= 0 && axis < std::max(1, shape.rank()), 4,
          fmt::format("{}: {} {} has no axis {}", state, name, shape.text(), axis));
  const Index length = AxisView(shape, axis).length;
  Index covered = 0;
  for (const HeadSlice& slice : slices) {
    require(slice.axis == axis, 4, fmt::format("{}: {} has slices along two axes", state, name));
    require(slice.begin == covered && slice.end >= covered, 4,
            fmt::format("{}: the slices of {} leave out or repeat indices from {} on ({})", state,
                        name, std::min(covered, slice.begin), range_text(slice)));
    covered = slice.end;
  }
  require(covered == length || shape.size() == 0, 4,
          fmt::format("{}: indices [{}, {}) of {} {} are in no slice; what belongs to no head is "
                      "of_none",
                      state, covered, length, name, shape.text()));
}

void check_parts(const Attention& attention, const std::vector<HeadSlice>& slices,
                 const std::string& state) {
  const auto alive = attention.alive();
  std::map<Index, std::set<HeadPart>> parts;
  std::map<HeadPart, Index> latest;
  for (const HeadSlice& slice : slices) {
    const std::string what =
        fmt::format("{}: {} of {}", state, name_of<HeadRole>(slice.role), slice.owner_text());
    const bool known = slice.head >= 0 || slice.head == HeadSlice::of_none ||
                       slice.head == HeadSlice::of_all ||
                       (slice.head == HeadSlice::of_group && !slice.group.empty());
    require(known && std::ranges::is_sorted(slice.group), 4,
            fmt::format("{}: {} belongs to {}", state, range_text(slice), slice.head));
    for (const Index head : slice.owners()) {
      require(std::ranges::find(alive, head) != alive.end(), 4,
              fmt::format("{}, which is not alive", what));
      require(parts[head].insert(slice.part()).second, 5, fmt::format("{}: two slices", what));
    }
    if (slice.owners().empty()) {
      require(slice.role != HeadRole::output, 5, what + ": each head needs its own");
      continue;
    }
    const auto [last, first] = latest.emplace(slice.part(), slice.owners().front());
    require(first || last->second < slice.owners().front(), 4,
            fmt::format("{} is listed after that of head {}", what, last->second));
    last->second = slice.owners().front();
    const bool output = slice.role == HeadRole::output;
    if (!output && slice.role > HeadRole::value_bias) continue;
    require(slice.length() == attention.head_dim() && slice.axis == (output ? 1 : 0), 5,
            fmt::format("{} has {} indices of axis {}, expected {} of axis {}", what,
                        slice.length(), slice.axis, attention.head_dim(), output ? 1 : 0));
    require(!output || slice.head >= 0, 5, what + ": each head needs its own");
  }
  for (const Index head : alive) {
    require(parts[head].contains(HeadRole::output), 5,
            fmt::format("{}: head {} has no output slice", state, head));
  }
}

}  // namespace

void check_slices(Attention& attention, std::span<const Index> removed) {
  const std::string state = heads_text(removed);
  const std::vector<HeadSlice> slices = in_law(4, state, [&] { return attention.head_slices(); });
  std::map<std::string, std::vector<HeadSlice>> by_name;
  for (const HeadSlice& slice : slices) by_name[slice.name].push_back(slice);
  for (const auto& [name, tensor] : parameters(attention)) {
    check_cover(name, tensor.shape(), by_name[name], state);
    by_name.erase(name);
  }
  require(by_name.empty(), 4,
          fmt::format("{}: there is no parameter {}", state,
                      by_name.empty() ? "" : by_name.begin()->first));
  check_parts(attention, slices, state);
}

}  // namespace layout_laws
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
