// Permuting axes and moving rows against the definition.
#include "kernels/permute.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "headroom/array/array.hpp"
#include "kernels/gather.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

Array counted(const Shape& shape) {
  Array x(shape);
  std::iota(x.data(), x.data() + x.size(), Real(0));
  return x;
}

/// The source position of element `at` of the permuted array, computed axis by axis.
Index source_of(Index at, const Shape& shape, const std::vector<int>& order) {
  Index source = 0;
  for (std::size_t i = order.size(); i-- > 0;) {
    const int axis = order[i];
    Index stride = 1;
    for (int inner = axis + 1; inner < shape.rank(); ++inner) stride *= shape[inner];
    source += at % shape[axis] * stride;
    at /= shape[axis];
  }
  return source;
}

}  // namespace

TEST_CASE("every order of the axes moves every element to its place") {
  for (const Shape& shape :
       {Shape{}, Shape{5}, Shape{3, 4}, Shape{40, 70}, Shape{2, 3, 4, 5}, Shape{2, 1, 3, 1, 4},
        Shape{3, 0, 2}, Shape{17, 2, 33}, Shape{2, 3, 1, 2, 3, 2}}) {
    std::vector<int> order(static_cast<std::size_t>(shape.rank()));
    std::iota(order.begin(), order.end(), 0);
    const Array x = counted(shape);
    do {
      Array y({shape.size()}, Real(-1));
      permute_axes(x.data(), shape, order, y.data());
      Index wrong = 0;
      for (Index at = 0; at < y.size(); ++at) {
        wrong += y[at] == x[source_of(at, shape, order)] ? 0 : 1;
      }
      INFO(shape.text());
      CHECK(wrong == 0);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_CASE("blocks are copied and added between different strides, short rows and long") {
  for (const Index width : {Index{0}, Index{1}, Index{5}, Index{40'000}}) {
    const Index rows = 3, x_stride = width + 2, y_stride = width + 1;
    const Array x = counted({rows * x_stride});
    Array y({rows * y_stride}, Real(0.5));
    copy_block(x.data(), x_stride, rows, width, y.data(), y_stride);
    add_block(x.data(), x_stride, rows, width, y.data(), y_stride);
    Index wrong = 0;
    for (Index row = 0; row < rows; ++row) {
      for (Index i = 0; i < y_stride; ++i) {
        const Real expected = i == width ? Real(0.5) : 2 * x[row * x_stride + i];
        wrong += y[row * y_stride + i] == expected ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("gathered rows come by position, and scattered ones add up") {
  const Index outer = 2, n = 4, inner = 100;
  const std::vector<std::int32_t> positions{3, 0, 3};
  const Array x = counted({outer, n, inner});
  Array y({outer, 3, inner}), dx = zeros({outer, n, inner});
  gather_rows(x.data(), outer, n, inner, positions.data(), 3, y.data());
  scatter_add_rows(y.data(), outer, n, inner, positions.data(), 3, dx.data());
  Index wrong = 0;
  for (Index o = 0; o < outer; ++o) {
    for (Index i = 0; i < inner; ++i) {
      for (Index p = 0; p < 3; ++p) {
        const Index from = positions[static_cast<std::size_t>(p)];
        wrong += y[(o * 3 + p) * inner + i] == x[(o * n + from) * inner + i] ? 0 : 1;
      }
      for (Index row = 0; row < n; ++row) {
        const Real times = row == 3 ? 2 : row == 0 ? 1 : 0;
        const Index at = (o * n + row) * inner + i;
        wrong += dx[at] == times * x[at] ? 0 : 1;
      }
    }
  }
  CHECK(wrong == 0);
}
