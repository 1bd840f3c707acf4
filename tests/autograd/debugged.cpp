// The program that gdb_printers.py stops in a debugger, at stop_here().
#include "headroom/autograd/tensor.hpp"

using namespace headroom;

namespace {
volatile int calls = 0;
[[gnu::noinline]] void stop_here(const Array& array, const Ids& ids, const Tensor& tensor,
                                 const Shape& shape, const Array& large) {
  calls = int(array.size() + ids.size() + tensor.size() + shape.size() + large.size());
}
}  // namespace

int main() {
  const Array array({2, 3}, {1, 2, 3, 4, 5, -6.5}), none;
  const Ids ids({3}, {7, 8, -9});
  const Tensor tensor(Array({2}, {0.25, 0.5}), true), undefined;
  stop_here(array, ids, tensor, array.shape(), Array({500, 3}, 1));
  return none.defined() || undefined.defined();
}
