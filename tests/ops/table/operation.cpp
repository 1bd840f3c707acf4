// Functions that all rows of the table of operations share.
#include "ops/table/operation.hpp"

#include <algorithm>

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

Shape Draw::shape(int min_rank, int max_rank) {
  const auto rank = int(between(large_ ? std::max(min_rank, 1) : min_rank, max_rank));
  // The product of the sizes is about 50,000 for every rank.
  const Index side = rank == 1 ? 50'000 : rank == 2 ? 220 : rank == 3 ? 36 : 15;
  Shape result;
  for (int axis = 0; axis < rank; ++axis) {
    result.push_back(large_ ? side + rng.below(side / 8 + 1) : size());
  }
  return result;
}

Shape Draw::broadcasting_to(const Shape& full) {
  const auto left_out = int(chance(0.3) ? rng.below(full.rank() + 1) : 0);
  Shape result;
  for (int axis = left_out; axis < full.rank(); ++axis) {
    result.push_back(chance(0.3) ? 1 : full[axis]);
  }
  return result;
}

const std::vector<Row>& operations() {
  static const std::vector<Row> table = [] {
    std::vector<Row> rows;
    for (const auto& part :
         {arithmetic_rows(), activation_rows(), reduction_rows(), shaping_rows(), matmul_rows(),
          normalisation_rows(), lookup_and_loss_rows(), attention_rows()}) {
      rows.insert(rows.end(), part.begin(), part.end());
    }
    return rows;
  }();
  return table;
}

Arrays gradients_of(const Function& function, const Arrays& inputs, const Array& dy) {
  Tensors leaves;
  for (const Array& input : inputs) leaves.push_back(parameter(input));
  const Tensor y = function(leaves);
  if (y.requires_grad()) y.backward(dy);
  Arrays gradients;
  for (const Tensor& leaf : leaves) {
    gradients.push_back(leaf.grad().defined() ? leaf.grad() : zeros(leaf.shape()));
  }
  return gradients;
}

Function planted(const Case& example, const Fault& fault) {
  return [operation = example.operation, fault](const Tensors& inputs) {
    const OpScope op("planted");
    Arrays x;
    Tensors untracked;
    for (const Tensor& input : inputs) {
      x.push_back(input.value());
      untracked.push_back(input.detach());
    }
    const Array y = operation(untracked).value();
    return record(op, y, inputs, [=](const Array& dy, Gradients& into) {
      const Arrays right = gradients_of(operation, x, dy);
      const Arrays wrong = fault.gradients({dy, x, y, right});
      for (std::size_t i = 0; i < wrong.size(); ++i) {
        if (!into[i].wanted()) continue;
        if (fault.overwrites) {
          into[i].sum() = wrong[i].clone();
        } else {
          into[i] += wrong[i];
        }
      }
    });
  };
}

std::vector<Fault> faults_of(const Case& example) {
  std::vector<Fault> faults = example.faults;
  faults.push_back({"a sign is flipped", [](const BackwardView& b) {
                      Arrays result = b.right;
                      result[0] = b.right[0].clone();
                      for (Real& d : result[0].span()) d = -d;
                      return result;
                    }});
  faults.push_back(
      {"overwrites instead of adding", [](const BackwardView& b) { return b.right; }, true});
  return faults;
}

// ---------------------------------------------------------------- plain loops

Index broadcast_index(const Shape& x, const Shape& full, Index e) {
  Index index = 0, stride = 1;
  for (int axis = 1; axis <= full.rank(); ++axis) {
    const Index place = e % full[-axis];
    e /= full[-axis];
    if (axis > x.rank()) continue;
    if (x[-axis] != 1) index += place * stride;
    stride *= x[-axis];
  }
  return index;
}

Array summed_to(const Array& full, const Shape& shape) {
  Array sum = zeros(shape);
  for (Index e = 0; e < full.size(); ++e) {
    sum[broadcast_index(shape, full.shape(), e)] += full[e];
  }
  return sum;
}

Array first_of(const Array& full, const Shape& shape) {
  Array first = zeros(shape);
  for (Index e = full.size() - 1; e >= 0; --e) {
    first[broadcast_index(shape, full.shape(), e)] = full[e];
  }
  return first;
}

Array plain_matmul(const Array& a, const Array& b, Index count) {
  const Index rows = a.dim(-2), inner = a.dim(-1), columns = b.dim(-1);
  Array y = a.rank() == 2 ? Array(Shape{rows, columns}) : Array(a.shape().with(-1, columns));
  for (Index m = 0; m < count; ++m) {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        long double sum = 0;
        for (Index k = 0; k < inner; ++k) {
          sum += static_cast<long double>(a[(m * rows + i) * inner + k]) *
                 static_cast<long double>(b[(m * inner + k) * columns + j]);
        }
        y[(m * rows + i) * columns + j] = Real(sum);
      }
    }
  }
  return y;
}

Array plain_transpose(const Array& x) {
  const Index rows = x.dim(-2), columns = x.dim(-1);
  Array y(x.shape().with(-2, columns).with(-1, rows));
  for (Index e = 0; e < x.size(); ++e) {
    const Index matrix = e / (rows * columns), i = e / columns % rows, j = e % columns;
    y[(matrix * columns + j) * rows + i] = x[e];
  }
  return y;
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
