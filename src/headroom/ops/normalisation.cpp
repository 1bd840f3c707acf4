// Layer norm and RMS norm on the tape.
#include "headroom/ops/normalisation.hpp"

#include "kernels/layer_norm.hpp"
#include "kernels/rms_norm.hpp"
#include "ops/rows.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A weight or bias, [C]; undefined where there is none.
Array per_column(const OpScope& op, const Tensor& x, const char* name, const Tensor& given) {
  if (!given.defined()) return {};
  if (given.shape() == Shape{x.dim(-1)}) return given.value();
  throw ShapeError(fmt::format("{}: x {} ends in {} features but {} {} does not have shape [{}]",
                               op.name(), x.shape().text(), x.dim(-1), name, given.shape().text(),
                               x.dim(-1)));
}

/// Rows with mean 0 and standard deviation 1, scaled and shifted; their means and 1 / deviations.
struct Normalised {
  Array y, mean, rstd;
};

Normalised layer_normalised(const Array& x, const Array& weight, const Array& bias, Real epsilon,
                            Index rows, Index columns) {
  Normalised result{Array(x.shape()), Array(Shape{rows}), Array(Shape{rows})};
  kernels::layer_norm(x.data(), weight.data(), bias.data(), epsilon, rows, columns, result.y.data(),
                      result.mean.data(), result.rstd.data());
  return result;
}

/// The same without mean: rstd is 1 / root mean square.
Normalised rms_normalised(const Array& x, const Array& weight, Real epsilon, Index rows,
                          Index columns) {
  Normalised result{Array(x.shape()), Array(), Array(Shape{rows})};
  kernels::rms_norm(x.data(), weight.data(), epsilon, rows, columns, result.y.data(),
                    result.rstd.data());
  return result;
}

/// Pointers to the wanted gradients of (x, weight, bias).
kernels::NormGradients places(Gradients& into, bool has_bias) {
  kernels::NormGradients to;
  const auto place = [&into](std::size_t input, Real*& target, bool& add_to_target) {
    if (!into[input].wanted()) return;
    const auto [sum, add] = into[input].write_or_add();
    target = sum.data();
    add_to_target = add;
  };
  place(0, to.dx, to.add_x);
  place(1, to.dweight, to.add_weight);
  if (has_bias) place(2, to.dbias, to.add_bias);
  return to;
}

}  // namespace

// With n = (x - mean) rstd, g = dy weight and C columns:
//   dn_c/dx_i = rstd ([c = i] - 1/C - n_c n_i / C),
// the 1/C from the mean and n_c n_i / C from the variance, hence
//   dx = rstd (g - mean(g) - n mean(g n)).
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, Real epsilon) {
  OpScope op("layer_norm");
  const auto [rows, columns] = rows_of(op, x.value());
  const Array scale = per_column(op, x, "weight", weight), shift = per_column(op, x, "bias", bias);
  const auto again = [x = x.value(), scale, shift, epsilon, rows = rows, columns = columns] {
    return layer_normalised(x, scale, shift, epsilon, rows, columns);
  };
  const auto [y, mean, rstd] = again();
  return record(
      op, y, {x, weight, bias},
      [x = x.value(), scale, mean = mean, rstd = rstd, rows = rows, columns = columns](
          const Array& dy, Gradients& into) {
        kernels::layer_norm_backward(x.data(), scale.data(), mean.data(), rstd.data(), dy.data(),
                                     rows, columns, places(into, true));
      },
      [again] { return again().y; });
}

// With n = x rrms and g = dy weight: dn_c/dx_i = rrms ([c = i] - n_c n_i / C), hence
//   dx = rrms (g - n mean(g n)).
Tensor rms_norm(const Tensor& x, const Tensor& weight, Real epsilon) {
  OpScope op("rms_norm");
  const auto [rows, columns] = rows_of(op, x.value());
  const Array scale = per_column(op, x, "weight", weight);
  const auto again = [x = x.value(), scale, epsilon, rows = rows, columns = columns] {
    return rms_normalised(x, scale, epsilon, rows, columns);
  };
  const auto [y, none, rrms] = again();
  return record(
      op, y, {x, weight},
      [x = x.value(), scale, rrms = rrms, rows = rows, columns = columns](const Array& dy,
                                                                          Gradients& into) {
        kernels::rms_norm_backward(x.data(), scale.data(), rrms.data(), dy.data(), rows, columns,
                                   places(into, false));
      },
      [again] { return again().y; });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
