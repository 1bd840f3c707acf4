//! title: make_twins
//! minutes: 15
//! difficulty: 2
//! needs: 06/2
//! hint: The gradient that reaches a head comes through its part of W_O. Which of its numbers must
//!   be equal for two heads to get the same gradient?
//! hint: Clone three weights and three biases. Then, in every row of out.weight, copy D elements
//!   from the columns of one head to those of the other.
//! hint: Row r of out.weight begins at r H D: weight[r * H * D + to * D + d] = weight[r * H * D +
//!   from * D + d].
//! after: `headroom lab symmetry` trains such heads in both layouts, with SGD and with AdamW.
// Exercise 08/3, make_twins: two heads that nothing can tell apart.
#include "3_twins.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void make_twins(SeparateHeads& layer, Index from, Index to) {
  const auto source = std::size_t(from), target = std::size_t(to);
  for (auto* heads : {&layer.query, &layer.key, &layer.value}) {
    Linear &original = *(*heads)[source], &twin = *(*heads)[target];
    //! solution
    twin.weight.set_value(original.weight.value().clone());
    if (twin.bias.defined()) twin.bias.set_value(original.bias.value().clone());
    //! skeleton
    // twin.weight.set_value(chapter::todo("the weight, and the bias if there is one", original));
    //! wrong shares_tensor: one parameter under two names
    // twin.weight = original.weight;
    // twin.bias = original.bias;
    //! wrong shares_numbers: share their numbers
    // twin.weight.set_value(original.weight.value());
    // if (twin.bias.defined()) twin.bias.set_value(original.bias.value());
    //! wrong without_bias: the biases of the two heads differ
    // twin.weight.set_value(original.weight.value().clone());
    //! wrong other_way: head 1 became a twin of head 3
    // original.weight.set_value(twin.weight.value().clone());
    // if (twin.bias.defined()) original.bias.set_value(twin.bias.value().clone());
    //! end
  }
  const Index d = layer.head_dim(), columns = layer.config().heads * d;
  //! solution
  Array& weight = layer.out.weight.edit_value();
  for (Index row = 0; row < layer.config().width; ++row) {
    for (Index i = 0; i < d; ++i) {
      weight[row * columns + to * d + i] = weight[row * columns + from * d + i];
    }
  }
  //! skeleton
  // Array& weight = layer.out.weight.edit_value();
  // for (Index row = 0; row < layer.config().width; ++row) {
  //   // The row begins at element row * columns; D of its elements belong to head `to`.
  //   weight[row * columns + to * d] = chapter::todo("the columns of out.weight, row by row");
  // }
  //! wrong without_output: equal at the start
  // static_cast<void>(columns);
  //! wrong rows_of_output: rows of out.weight were copied
  // Array& weight = layer.out.weight.edit_value();
  // for (Index i = 0; i < d * columns; ++i) {
  //   weight[to * d * columns + i] = weight[from * d * columns + i];
  // }
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
