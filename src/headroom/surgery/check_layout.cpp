// The laws of attention layouts, one after the other.
#include "headroom/surgery/check_layout.hpp"

#include <fmt/format.h>

#include <typeinfo>

#include "headroom/base/error.hpp"
#include "surgery/layout_laws.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace layout_laws {

void check_construction(const LayoutCase& layout, const Attention& attention) {
  const auto a = layout.drawn(), b = layout.drawn();
  const Attention& built = *a;
  require(typeid(built) == typeid(attention), 11,
          fmt::format("layout() returns {}, under which another class is registered; return the "
                      "value of add_layout()",
                      name_of(attention.layout())));
  const Contents left(*a), right(*b);
  for (const auto& [name, value] : left.values) {
    const auto found = right.values.find(name);
    require(found != right.values.end() && same_bits(value, found->second), 9,
            fmt::format("two attentions from equal random numbers differ in {}", name));
  }
}

}  // namespace layout_laws

void check_layout(const Attention& attention) {
  using namespace layout_laws;
  try {
    const LayoutCase layout(attention);
    check_construction(layout, attention);
    const auto whole = layout.make();
    check_slices(*whole, {});
    check_state(layout);
    check_inputs(layout);
    check_score_bias(layout, *whole, {});
    check_decoding(layout, *whole, {});
    for (const std::vector<Index>& heads : layout.sets_of_heads()) {
      check_owners(layout, heads);
      check_removal(layout, heads);
    }
    check_same_parts(layout);
    check_moments(layout);
    check_gradients(layout);
  } catch (const Broken& broken) {
    throw UsageError(fmt::format("check_layout: {} breaks law {}: {}", attention.title(),
                                 broken.law, broken.text));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
