// Law 13 of attention layouts: gradients.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "headroom/ops/arithmetic.hpp"
#include "surgery/layout_laws.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace layout_laws {

namespace {

/// Compares derivatives along random directions with differences, by the formula of gradcheck(), at
/// one draw of the parameters. Returns what differs, or "".
std::string wrong_gradient(const LayoutCase& layout, int draw) {
  const auto attention = layout.make(draw);
  const Tensor gates(ones({layout.config.heads}), true);
  Rng rng(6, "check_layout gradients");
  std::vector<Array> cotangents;
  for (const Array& y : layout.values(*attention))
    cotangents.push_back(random_values(y.shape(), rng));
  double size = 0;  // of the terms of the loss
  const auto loss = [&] {
    double sum = 0;
    size = 0;
    const std::vector<Array> all = layout.values(*attention, gates);
    for (std::size_t k = 0; k < all.size(); ++k) {
      for (Index i = 0; i < all[k].size(); ++i) {
        const double term = double(all[k][i]) * double(cotangents[k][i]);
        sum += term;
        size += std::abs(term);
      }
    }
    return sum;
  };
  std::vector<std::pair<std::string, Tensor>> leaves{{"the query", layout.query},
                                                     {"the key", layout.key},
                                                     {"the value", layout.value},
                                                     {"the gates", gates}};
  for (const auto& [name, tensor] : parameters(*attention)) {
    if (tensor.requires_grad() && tensor.size() > 0) leaves.emplace_back(name, tensor);
  }
  for (auto& [name, tensor] : leaves) tensor.zero_grad();
  const std::vector<Tensor> results = layout.outputs(*attention, gates);
  for (std::size_t k = 0; k < results.size(); ++k) {
    in_law(13, "backward", [&] { results[k].backward(cotangents[k]); });
  }
  for (const auto& [name, tensor] : leaves) {
    require(tensor.grad().defined(), 13, fmt::format("no gradient reaches {}", name));
  }
  const double largest_step = is_double ? 1e-4 : 1e-2, relative = is_double ? 1e-6 : 1e-2;
  for (auto& [name, tensor] : leaves) {
    const Array gradient = tensor.grad().clone(), old = tensor.value().clone();
    for (int trial = 0; trial < 3; ++trial) {
      const Array direction = random_values(old.shape(), rng);
      const auto at_distance = [&, &parameter = tensor](double distance) {
        Array moved = old.clone();
        for (Index i = 0; i < moved.size(); ++i) {
          moved[i] = Real(double(old[i]) + distance * double(direction[i]));
        }
        parameter.set_value(moved);
        return loss();
      };
      double analytic = 0, numeric = 0;
      for (Index i = 0; i < old.size(); ++i) {
        analytic += double(gradient[i]) * double(direction[i]);
      }
      const auto agrees_at = [&, &parameter = tensor](double step) {
        numeric = (8 * (at_distance(step) - at_distance(-step)) -
                   (at_distance(2 * step) - at_distance(-2 * step))) /
                  (12 * step);
        parameter.set_value(old, gradient);
        const double noise = (is_double ? 1e-9 : 2e-4) * size;
        return std::abs(analytic - numeric) <=
               noise + relative * std::max(std::abs(analytic), std::abs(numeric));
      };
      // Where a ReLU switches between the points, only a smaller step agrees.
      if (std::ranges::none_of(std::array{1.0, 0.5, 0.25},
                               [&](double part) { return agrees_at(part * largest_step); })) {
        return fmt::format(
            "the gradient of {} is {:.6g} along a random direction, and finite differences give "
            "{:.6g}",
            name, analytic, numeric);
      }
    }
  }
  return "";
}

}  // namespace

void check_gradients(const LayoutCase& layout) {
  std::string wrong;
  for (int draw = 0; draw < 3; ++draw) {  // a ReLU may switch very near to one of them
    wrong = wrong_gradient(layout, draw);
    if (wrong.empty()) return;
  }
  throw Broken{13, wrong};
}

}  // namespace layout_laws
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
