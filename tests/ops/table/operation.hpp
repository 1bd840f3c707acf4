// The table of operations. Every public operation has a row (or one per overload) in one of the
// *_rows.cpp files here, and table_test.cpp checks every row: gradient check, composed twin, plain
// loops, thread counts, no tape under NoGrad, planted faults. A new operation needs a new row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headroom/autograd/tape.hpp"
#include "headroom/autograd/tensor.hpp"
#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

using Arrays = std::vector<Array>;
using Tensors = std::vector<Tensor>;
using Function = std::function<Tensor(const Tensors&)>;

/// Draws the random sizes and values of a row. Small cases have axes of size 0 and 1; large ones
/// span several chunks of every parallel loop.
class Draw {
 public:
  Draw(const std::string& row, int number, bool large)
      : rng(large ? 2 : 1, row, static_cast<std::uint64_t>(number)), large_(large) {}

  bool large() const { return large_; }
  bool chance(double probability) { return double(rng.uniform()) < probability; }
  Index between(Index low, Index high) { return low + rng.below(high - low + 1); }
  /// The size of an axis: 0 in one of 14 small cases.
  Index size() { return !large_ && chance(1.0 / 14) ? 0 : some(); }
  /// The size of an axis that must not be empty.
  Index some() { return large_ ? between(30, 60) : between(1, 4); }
  /// A whole shape; a large one has about 50,000 elements.
  Shape shape(int min_rank = 0, int max_rank = 3);
  /// A shape that broadcasts to `full`: axes cut to 1, leading axes left out.
  Shape broadcasting_to(const Shape& full);

  Rng rng;

 private:
  bool large_;
};

/// Inputs of a backward pass, and the correct gradients.
struct BackwardView {
  const Array& dy;
  const Arrays& x;  // the inputs' values
  const Array& y;
  const Arrays& right;
};

/// A planted fault: gradients of correct shapes with wrong values. The library has no switch for
/// it; planted() records it after the correct forward pass.
struct Fault {
  std::string name;
  std::function<Arrays(const BackwardView&)> gradients;
  bool overwrites = false;  // replaces existing gradients
};

/// One random call of an operation.
struct Case {
  Arrays inputs;  // those that get a gradient; masks, ids and axes are captured by the functions
  Function operation;
  std::function<Array(const Arrays&)> reference;  // the same values by plain loops
  Function composed = nullptr;                    // the twin in namespace composed, if there is one
  std::vector<Fault> faults = {};                 // those specific to its formula
};

struct Row {
  std::string name;
  std::string declared;  // the name under which the public header declares it
  std::function<Case(Draw&)> draw;
};

/// The faults that are specific to an operation, then those that every operation has.
std::vector<Fault> faults_of(const Case& example);

/// The rows of all *_rows.cpp files.
const std::vector<Row>& operations();

std::vector<Row> arithmetic_rows();
std::vector<Row> activation_rows();
std::vector<Row> reduction_rows();
std::vector<Row> shaping_rows();
std::vector<Row> matmul_rows();
std::vector<Row> normalisation_rows();
std::vector<Row> lookup_and_loss_rows();
std::vector<Row> attention_rows();

/// The gradients from the backward pass of `function`; zeros where it gives none.
Arrays gradients_of(const Function& function, const Arrays& inputs, const Array& dy);

/// The operation of `example` with the backward of `fault`.
Function planted(const Case& example, const Fault& fault);

// ---------------------------------------------------------------- plain loops

/// The element of `x` that broadcasting pairs with element e of an array of shape `full`.
Index broadcast_index(const Shape& x, const Shape& full, Index e);

/// f(a, b, ...) elementwise with broadcasting, in long double.
template <class F, class... More>
Array plain(F f, const Array& first, const More&... more) {
  Shape shape = first.shape();
  ((shape = broadcast("plain", shape, more.shape())), ...);
  Array y(shape);
  for (Index e = 0; e < y.size(); ++e) {
    y[e] = Real(f(static_cast<long double>(first[broadcast_index(first.shape(), shape, e)]),
                  static_cast<long double>(more[broadcast_index(more.shape(), shape, e)])...));
  }
  return y;
}

/// Sums the elements that broadcasting had repeated, or (wrongly) takes the first of each.
Array summed_to(const Array& full, const Shape& shape);
Array first_of(const Array& full, const Shape& shape);

/// a [M, K] times b [K, N] by three loops; `count` matrices one after the other.
Array plain_matmul(const Array& a, const Array& b, Index count = 1);
/// The last two axes exchanged.
Array plain_transpose(const Array& x);

/// A fault of a function of one tensor: dx = dy * slope(x, y).
template <class F>
Fault wrong_slope(std::string name, F slope) {
  return {std::move(name), [slope](const BackwardView& b) {
            Array dx(b.x[0].shape());
            for (Index e = 0; e < dx.size(); ++e) dx[e] = b.dy[e] * slope(b.x[0][e], b.y[e]);
            return Arrays{dx};
          }};
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
