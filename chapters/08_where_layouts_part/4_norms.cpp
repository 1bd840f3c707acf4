//! title: head_gradient_norms
//! minutes: 15
//! difficulty: 2
//! path: short
//! needs: 08/2
//! hint: A head has up to seven slices. What do you have to add up over all of them, and what may
//!   you do only once, at the end?
//! hint: squares[head] += g * g for each element g of each slice of that head. Which elements these
//!   are depends on slice.axis; for_each_run() knows it.
//! hint: for (Index i = first; i < first + count; ++i) squares[slice.head] += grad[i] * grad[i];
//!   then one square root for each head in layer.alive().
//! after: `train --telemetry 10` writes such norms, role by role, while a model trains.
// Exercise 08/4, head_gradient_norms: the gradient of a head, wherever it is stored.
#include "4_norms.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<double> head_gradient_norms(Attention& layer) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : parameters(layer)) tensors[name] = tensor;
  std::map<Index, double> squares;  // by original number
  for (const Index head : layer.alive()) squares[head] = 0;
  for (const HeadSlice& slice : layer.head_slices()) {
    if (slice.head < 0) continue;
    const Array& grad = tensors.at(slice.name).grad();
    //! solution
    if (!grad.defined()) continue;
    for_each_run(grad.shape(), slice, [&](Index first, Index count) {
      for (Index i = first; i < first + count; ++i) {
        squares[slice.head] += double(grad[i]) * double(grad[i]);
      }
    });
    //! skeleton
    // squares[slice.head] = chapter::todo("the squares of the elements of this slice", grad);
    //! mistake counts_output_bias: the gradient of the output bias was counted, which belongs to no
    //!   head
    //- if (slice.head < 0) continue;
    //+ if (slice.head < 0) {
    //+   const Array& bias = tensors.at(slice.name).grad();
    //+   for (Index i = 0; bias.defined() && i < bias.size(); ++i) {
    //+     for (auto& [head, sum] : squares) sum += double(bias[i]) * double(bias[i]);
    //+   }
    //+   continue;
    //+ }
    //! mistake rows_for_columns: rows of W_O were taken for columns: a head owns columns
    //- for_each_run(grad.shape(), slice, [&](Index first, Index count) {
    //+ const AxisRange rows{0, slice.begin, slice.end};
    //+ for_each_run(grad.shape(), rows, [&](Index first, Index count) {
    //! mistake squares_not_summed: the norms of the parts were added: their squares must be
    // if (!grad.defined()) continue;
    // double own = 0;
    // for_each_run(grad.shape(), slice, [&](Index first, Index count) {
    //   for (Index i = first; i < first + count; ++i) own += double(grad[i]) * double(grad[i]);
    // });
    // const double sum = std::sqrt(squares[slice.head]) + std::sqrt(own);
    // squares[slice.head] = sum * sum;
    //! mistake whole_tensors: each head was given the norm of whole parameters, out.weight too
    // if (!grad.defined()) continue;
    // for (Index i = 0; i < grad.size(); ++i) {
    //   squares[slice.head] += double(grad[i]) * double(grad[i]);
    // }
    //! wrong crashes_without: an element of an undefined array
    //- if (!grad.defined()) continue;
    //! mistake without_biases: the biases were left out
    //- if (!grad.defined()) continue;
    //+ if (!grad.defined() || grad.rank() == 1) continue;
    //! end
  }
  std::vector<double> norms;
  //! solution
  for (const Index head : layer.alive()) norms.push_back(std::sqrt(squares[head]));
  //! skeleton
  // return chapter::todo("one norm for each live head");
  //! mistake no_root: the square root is missing
  // for (const Index head : layer.alive()) norms.push_back(squares[head]);
  //! wrong removed_too: your function returns 4 norms for 2 live heads
  // for (Index head = 0; head < layer.config().heads; ++head) {
  //   norms.push_back(std::sqrt(squares[head]));
  // }
  //! end
  return norms;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
