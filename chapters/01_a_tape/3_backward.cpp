//! title: backward
//! minutes: 10
//! difficulty: 1
//! path: short
//! needs: 01/1 01/2
//! hint: Which gradients must be known before the first closure runs? And which must be 0?
//! hint: Two loops. The first one sets the gradients of all nodes that are no leaves to 0. Then the
//!   root gets its gradient, and the second loop calls the closures, in the order as it is.
//! hint: In the second loop: if (!node->inputs.empty()) node->backward(node->gradient,
//!   Gradients(node->inputs));
//! after: In the library the first loop is not needed: a pass frees each inner gradient as soon as
//!   it has been handed on.
// Exercise 01/3: the backward pass.
#include "3_backward.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace scalar {

void backward(const std::vector<Node*>& order) {
  //! solution
  for (Node* node : order) {
    if (!node->inputs.empty()) node->gradient = 0;
  }
  order.front()->gradient += 1;
  for (Node* node : order) {
    if (!node->inputs.empty()) node->backward(node->gradient, Gradients(node->inputs));
  }
  //! skeleton
  // // Set what must be 0, then the gradient of the root, then let the gradients flow.
  // order.front()->gradient += Real(chapter::todo("the gradient of the root"));
  //! mistake keeps_old: the second pass began with the inner gradients of the first: they start
  //!   from 0
  //- for (Node* node : order) {
  //-   if (!node->inputs.empty()) node->gradient = 0;
  //- }
  //- order.front()->gradient += 1;
  //+ order.front()->gradient = 1;
  //! mistake adds_to_old: the second pass began with the inner gradients of the first: they start
  //!   from 0
  //- for (Node* node : order) {
  //-   if (!node->inputs.empty()) node->gradient = 0;
  //- }
  //! wrong root_replaced: a root that is a leaf lost what an earlier loss had added
  //- order.front()->gradient += 1;
  //+ order.front()->gradient = 1;
  //! mistake clears_leaves: what an earlier loss had added to the leaves is lost: only the inner
  //!   nodes start from 0
  //- if (!node->inputs.empty()) node->gradient = 0;
  //+ node->gradient = 0;
  //! mistake seeds_with_value: the root's gradient was its value; dL/dL is 1
  //- order.front()->gradient += 1;
  //+ order.front()->gradient = order.front()->value;
  //! wrong no_seed: The root's gradient is 0
  //- order.front()->gradient += 1;
  //! wrong zeroed_on_the_way: must not be lost before it is passed on
  // order.front()->gradient = 1;
  // for (Node* node : order) {
  //   if (node->inputs.empty()) continue;
  //   if (node != order.front()) node->gradient = 0;
  //   node->backward(node->gradient, Gradients(node->inputs));
  // }
  //! wrong oldest_first: The closures ran in the opposite order
  //- order.front()->gradient += 1;
  //- for (Node* node : order) {
  //+ order.front()->gradient = 1;
  //+ for (std::size_t i = order.size(); i-- > 0;) {
  //+   Node* const node = order[i];
  //! wrong only_the_root: Only the closure of the root was called
  // order.front()->gradient = 1;
  // order.front()->backward(1, Gradients(order.front()->inputs));
  //! mistake passes_on_one: each closure got 1, not the gradient of its own node
  //- order.front()->gradient += 1;
  //+ order.front()->gradient = 1;
  //  for (Node* node : order) {
  //-   if (!node->inputs.empty()) node->backward(node->gradient, Gradients(node->inputs));
  //+   if (!node->inputs.empty()) node->backward(1, Gradients(node->inputs));
  //! wrong calls_leaves: the closure of a leaf was called
  // for (Node* node : order) {
  //   if (!node->inputs.empty()) node->gradient = 0;
  // }
  // order.front()->gradient = 1;
  // for (Node* node : order) node->backward(node->gradient, Gradients(node->inputs));
  //! end
}

}  // namespace scalar
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
