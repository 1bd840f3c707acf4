// Points at two keys with one softmax and with two.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  Array one = zeros({1, 4}), two = zeros({2, 4});
  one[1] = one[2] = 50;  // the scores of one head: keys 1 and 2
  two[1] = 50;           // head 0: key 1
  two[4 + 2] = 50;       // head 1: key 2
  const Array p = softmax(Tensor(one)).value();
  const Array q = softmax(Tensor(two)).value();
  std::printf("one head %.2f and %.2f, two heads %.2f and %.2f\n",
              double(p[1]), double(p[2]), double(q[1]), double(q[4 + 2]));
  return p[1] < 0.51 && p[2] < 0.51 && q[1] > 0.99 && q[4 + 2] > 0.99 ? 0
                                                                      : 1;
}
