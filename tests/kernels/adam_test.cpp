// The Adam kernel against its xtensor reference.
#include "kernels/adam.hpp"

#include <cmath>
#include <vector>

#include "headroom/base/rng.hpp"
#include "kernels/adam_reference.hpp"
#include "support/catch.hpp"

using namespace headroom;

TEST_CASE("adam equals its reference, decay added or decoupled") {
  const Index n = 1003;
  Rng rng(2, "adam");
  const auto draw = [&](bool positive) {
    std::vector<Real> numbers(static_cast<std::size_t>(n));
    for (Real& x : numbers) x = positive ? std::abs(rng.normal()) : rng.normal();
    return numbers;
  };
  for (const bool decoupled : {false, true}) {
    CAPTURE(decoupled);
    const AdamStep step = adam_step(0.01, 0.9, 0.99, 1e-8, 0.1, decoupled, 7);
    std::vector<Real> p = draw(false), g = draw(false), m = draw(false), v = draw(true);
    using Flat = xt::xtensor<double, 1>;
    const auto wide = [&](const std::vector<Real>& x) { return Flat(xt::adapt(x)); };
    Flat p_ref = wide(p), m_ref = wide(m), v_ref = wide(v);
    adam_reference(step, p_ref, wide(g), m_ref, v_ref);
    adam(step, n, p.data(), g.data(), m.data(), v.data());
    double worst = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      worst = std::max({worst, std::abs(double(p[i]) - p_ref(i)), std::abs(double(m[i]) - m_ref(i)),
                        std::abs(double(v[i]) - v_ref(i))});
    }
    CHECK(worst < (is_double ? 1e-14 : 2e-6));
  }
}
