// Contributions: the numbers of chapter 03. How many elements of y an element of an operand moves,
// what becomes of a gradient that forgets to add them up, and which mistakes a shape can catch.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "arrows.hpp"
#include "facts.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/array/pool.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/nn/module.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/sgd.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom/surgery/transplant.hpp"

using namespace headroom;

namespace {

// ---------------------------------------------------------------- broadcasting

/// The gradient of an operand of `shape` in x + operand, where dy is all ones: the number of
/// elements of y that each of its elements moves.
double contributions(const Shape& whole, const Shape& shape) {
  const Tensor x(zeros(whole)), operand = parameter(zeros(shape));
  (x + operand).backward(ones(whole));
  return double(operand.grad()[0]);
}

void measure_contributions() {
  const Shape whole{4, 6, 8};
  std::printf("y is [4, 6, 8]\n");
  claim("contributions, x [4, 6, 8]", contributions(whole, {4, 6, 8}), 1, 1);
  part("03/a", "03/b");
  claim("contributions, b [8]", contributions(whole, {8}), 24, 24, "03/a");
  claim("contributions, s [6, 1]", contributions(whole, {6, 1}), 32, 32, "03/b");
  claim("contributions, one number", contributions(whole, {}), 192, 192);
}

/// y = q + k with q [5, 1] and k [1, 5], of which the loss sees the lower triangle.
void draw_margins() {
  part("");  // answers nothing: shown in any case
  constexpr Index n = 5;
  const Tensor q = parameter(zeros({n, 1})), k = parameter(zeros({1, n}));
  Array dy = zeros({n, n});
  for (Index i = 0; i < n * n; ++i) dy[i] = i % n <= i / n ? Real(1) : Real(0);
  (q + k).backward(dy);
  std::printf("   dy [5, 5]      dq [5, 1]\n");
  double total = 0;
  for (Index i = 0; i < n; ++i) {
    std::string row;
    for (Index j = 0; j < n; ++j) row += dy[i * n + j] != 0 ? " #" : " .";
    std::printf("  %s      %s %d\n", row.c_str(),
                std::string(std::size_t(q.grad()[i]), '#').c_str(), int(q.grad()[i]));
    total += double(q.grad()[i]) - double(k.grad()[i]);
  }
  std::printf("  ");
  for (Index j = 0; j < n; ++j) std::printf(" %d", int(k.grad()[j]));
  std::printf("      dk [1, 5]\n");
  claim("sum of dq - sum of dk", total, 0, 0);
}

// ---------------------------------------------------------------- a plane behind points

/// Points of y = 2 a - 3 b + 1, with a little noise, as in examples/linear_regression.cpp.
struct Points {
  static constexpr Index count = 200;
  explicit Points(std::uint64_t seed) : x({count, 2}), y({count, 1}) {
    Rng rng(seed, "points");
    for (Index i = 0; i < count; ++i) {
      x[2 * i] = rng.normal();
      x[2 * i + 1] = rng.normal();
      y[i] = 2 * x[2 * i] - 3 * x[2 * i + 1] + 1 + Real(0.1) * rng.normal();
    }
  }
  Array x, y;
};

/// x + bias, whose closure takes the mean over the rows where it should take the sum.
Tensor add_with_mean(const Tensor& x, const Tensor& bias) {
  OpScope op("add_with_mean");
  const Array y = (x.detach() + bias.detach()).value();
  return record(op, y, {x, bias}, [](const Array& dy, Gradients& into) {
    into[0] += dy;
    Real sum = 0;
    for (const Real d : dy.span()) sum += d;
    into[1] += Array({1}, sum / Real(dy.size()));
  });
}

/// x w + c.
struct Plane : Module {
  explicit Plane(bool mean)
      : with_mean(mean), w(parameter(zeros({2, 1}))), c(parameter(zeros({1}))) {}
  Tensor operator()(const Tensor& x) const {
    const Tensor xw = matmul(x, w);
    return with_mean ? add_with_mean(xw, c) : xw + c;
  }
  void members(Members& visit) override {
    visit("w", w);
    visit("c", c);
  }
  std::string title() const override { return "Plane"; }

  bool with_mean;
  Tensor w, c;
};

/// 100 steps towards the targets. Returns the last loss.
template <class Descent>
double fit(Plane& plane, Descent& optimizer, const Array& x, const Array& y, double rate) {
  double loss = 0;
  for (int step = 0; step <= 100; ++step) {
    const Tensor difference = plane(Tensor(x)) - Tensor(y);
    const Tensor squared = mean(difference * difference);
    loss = double(squared.item());
    optimizer.zero_grad();
    squared.backward();
    optimizer.step(rate);
  }
  return loss;
}

/// Largest value of five seeds.
template <class Of>
double most(Of of) {
  double result = of(1);
  for (std::uint64_t seed = 2; seed <= 5; ++seed) result = std::max(result, of(seed));
  return result;
}
template <class Of>
double least(Of of) {
  return -most([&](std::uint64_t seed) { return -of(seed); });
}

struct Fit {
  double a, b, c, loss;
};

Fit fitted(std::uint64_t seed, bool column, bool mean_of_copies = false) {
  const Points points(seed);
  Plane plane(mean_of_copies);
  Sgd sgd(plane);
  const Array y = column ? points.y : points.y.reshaped({Points::count});
  const double loss = fit(plane, sgd, points.x, y, 0.1);
  const Array& w = plane.w.value();
  return {double(w[0]), double(w[1]), double(plane.c.value()[0]), loss};
}

void measure_planes() {
  const Fit right = fitted(1, true), wrong = fitted(1, false);
  std::printf("y = 2 a - 3 b + 1, targets [200, 1]\n");
  claim("a", right.a, 1.95, 2.05);
  claim("b", right.b, -3.05, -2.95);
  claim("c", right.c, 0.95, 1.05);
  claim("loss", right.loss, 0, 0.02);
  part("03/c");
  std::printf("targets [200]\n");
  claim("differences", double((Tensor(zeros({200, 1})) - Tensor(zeros({200}))).size()), 40000,
        40000);
  claim("a, targets [200]", wrong.a, -0.01, 0.01, "03/c");
  claim("b, targets [200]", wrong.b, -0.01, 0.01);
  claim("c, targets [200]", wrong.c, 0.5, 1.5);
  claim("loss, targets [200]", wrong.loss, 5, 25);
  claim("most of |a|, five seeds",
        most([](std::uint64_t seed) { return std::abs(fitted(seed, false).a); }), 0, 0.01);

  part("03/d");
  std::printf("the mean of the contributions instead of the sum, 100 steps\n");
  claim("c, mean, plain descent", fitted(1, true, true).c, 0.02, 0.3, "03/d");
  const auto apart = [](std::uint64_t seed) {
    const Points points(seed);
    Plane sum(false), mean(true);
    Adam adam_of_sum(sum), adam_of_mean(mean);
    fit(sum, adam_of_sum, points.x, points.y, 0.05);
    fit(mean, adam_of_mean, points.x, points.y, 0.05);
    return std::abs(double(sum.c.value()[0]) - double(mean.c.value()[0]));
  };
  part("03/e");
  claim("sum and mean, Adam: c apart", most(apart), 0, 0.001, "03/e");
}

// ---------------------------------------------------------------- products

struct Candidates {
  Index fit = 0, right = 0;
};

/// The products of dy and b, each transposed or not, in both orders: which of them have the shape
/// of a, and which of those are da?
Candidates candidates(Index m, Index k, Index n, std::uint64_t seed) {
  Rng rng(seed, "products");
  const Tensor a = parameter(normal({m, k}, 1, rng));
  const Array b = normal({k, n}, 1, rng), dy = normal({m, n}, 1, rng);
  matmul(a, Tensor(b)).backward(dy);
  Candidates result;
  for (const bool dy_first : {true, false}) {
    for (const Array& left : {dy, transposed(dy)}) {
      for (const Array& right : {b, transposed(b)}) {
        const Array& first = dy_first ? left : right;
        const Array& second = dy_first ? right : left;
        if (first.dim(1) != second.dim(0)) continue;
        const Array product = matmul(first, second);
        if (!(product.shape() == a.shape())) continue;
        ++result.fit;
        if (relative_difference(product, a.grad()) < 1e-12) ++result.right;
      }
    }
  }
  return result;
}

/// The gradient that the product of two square matrices gives to its first factor.
enum class Da { right, without_transpose, nothing };

Tensor product(const Tensor& a, const Tensor& b, Da da) {
  if (da == Da::right) return matmul(a, b);
  if (da == Da::nothing) return matmul(a.detach(), b);
  OpScope op("product_without_transpose");
  return record(op, matmul(a.value(), b.value()), {a, b},
                [a = a.value(), b = b.value()](const Array& dy, Gradients& into) {
                  into[0] += matmul(dy, b);
                  into[1] += matmul(transposed(a), dy);
                });
}

/// tanh(tanh(x w1) w2) w3, all matrices square.
struct Square : Module {
  static constexpr Index width = 16;
  explicit Square(Rng& rng) {
    for (Tensor* w : {&w1, &w2, &w3}) *w = parameter(normal({width, width}, Real(0.25), rng));
  }
  Tensor operator()(const Tensor& x, Da da) const {
    return product(tanh(product(tanh(product(x, w1, da)), w2, da)), w3, da);
  }
  /// The cosine between the gradient of w1 and what it would be without the transpose.
  double cosine(const Tensor& x, const Tensor& target) {
    Array gradients[2];
    for (const Da da : {Da::right, Da::without_transpose}) {
      for (Tensor* w : {&w1, &w2, &w3}) w->zero_grad();
      squared_error((*this)(x, da), target).backward();
      gradients[da == Da::right ? 0 : 1] = w1.grad().clone();
    }
    double products = 0, squares = 0, others = 0;
    for (Index i = 0; i < gradients[0].size(); ++i) {
      const auto g = double(gradients[0][i]), h = double(gradients[1][i]);
      products += g * h;
      squares += g * g;
      others += h * h;
    }
    return products / std::sqrt(squares * others);
  }
  void members(Members& visit) override {
    visit("w1", w1);
    visit("w2", w2);
    visit("w3", w3);
  }
  std::string title() const override { return "Square"; }

  Tensor w1, w2, w3;
};

/// Learns another network of the same kind in 500 steps.
struct Lesson {
  Lesson(std::uint64_t seed, Da da) {
    Rng rng(seed, "square");
    const Square teacher(rng);
    Square student(rng);
    Adam of_all(student);
    for (int step = 0; step < 500; ++step) {
      const Tensor x(normal({64, Square::width}, 1, rng));
      const Tensor target = teacher(x, Da::right).detach();
      if (step == 0) cosine_first = student.cosine(x, target);
      if (step == 450) cosine_last = student.cosine(x, target);
      const Tensor loss = squared_error(student(x, da), target);
      last = double(loss.item());
      if (step == 0) first = last;
      of_all.zero_grad();
      loss.backward();
      if (da == Da::nothing) {  // the other two get no gradient, and do not move
        for (Tensor* w : {&student.w1, &student.w2}) w->set_grad(zeros(w->shape()));
      }
      of_all.step(0.01);
    }
  }
  double first = 0, last = 0, cosine_first = 0, cosine_last = 0;
};

void measure_products() {
  const auto of = [](Index m, Index k, Index n) {
    return [=](std::uint64_t seed) { return double(candidates(m, k, n, seed).fit); };
  };
  part("03/f");
  std::printf("eight products of dy and b\n");
  claim("products that fit, 2 x 3 x 4", most(of(2, 3, 4)), 1, 1, "03/f");
  claim("products that fit, 4 x 4 x 4", least(of(4, 4, 4)), 8, 8);
  claim("products that are da",
        most([](std::uint64_t seed) { return double(candidates(4, 4, 4, seed).right); }), 1, 1);
  const Lesson right(1, Da::right), wrong(1, Da::without_transpose), last_alone(1, Da::nothing);
  part("");  // answers nothing: shown in any case
  std::printf("three square matrices, 500 steps\n");
  claim("loss before", right.first, 0.3, 0.8);
  claim("loss, da = dy b^T", right.last, 0.002, 0.012);
  part("03/g");
  claim("loss, da = dy b", wrong.last, 0.012, 0.05, "03/g");
  claim("loss, only w3 learns", last_alone.last, 0.06, 0.2);
  std::vector<double> cosines_first, cosines_last, worse, left;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Lesson of_seed(seed, Da::without_transpose);
    cosines_first.push_back(of_seed.cosine_first);
    cosines_last.push_back(of_seed.cosine_last);
    worse.push_back(of_seed.last / Lesson(seed, Da::right).last);
    left.push_back(of_seed.last / of_seed.first);
  }
  std::printf("five seeds\n");
  claim("cosine of the w1 gradients", median(cosines_first), -0.3, 0.25);
  claim("cosine after 450 steps", median(cosines_last), 0.4, 0.9);
  claim("least of wrong / right", *std::min_element(worse.begin(), worse.end()), 1.5, 10);
  claim("most of wrong / before", *std::max_element(left.begin(), left.end()), 0, 0.1);
}

// ---------------------------------------------------------------- views

void draw(const Array& x, const char* how) {
  std::printf("%-24s", how);
  const Index columns = x.dim(-1), rows = x.size() / columns;
  for (Index r = 0; r < rows; ++r) {
    std::printf(" |");
    for (Index c = 0; c < columns; ++c) std::printf("%3d", int(x[r * columns + c]));
  }
  std::printf(" |\n");
}

bool is_inverse_of_itself(const std::vector<int>& order) {
  for (int j = 0; j < int(order.size()); ++j) {
    if (at(order, at(order, j)) != j) return false;
  }
  return true;
}

/// For all orders of the axes of `shape`: which are their own inverse, and which of the others lead
/// back to the shape when they are applied twice?
struct Orders {
  Index all = 0, own_inverse = 0, fit = 0;
};

Orders orders_of(const Shape& shape) {
  std::vector<int> order(std::size_t(shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  const Tensor x(zeros(shape));
  Orders result;
  do {
    ++result.all;
    if (is_inverse_of_itself(order)) {
      ++result.own_inverse;
    } else if (permute(permute(x, order), order).shape() == shape) {
      ++result.fit;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return result;
}

double bytes_taken(const std::function<Tensor()>& by) {
  const std::size_t before = pool_statistics().live;
  const Tensor y = by();
  return double(pool_statistics().live - before);
}

void measure_views() {
  part("");  // answers nothing: shown in any case
  Array twelve({12});
  for (Index i = 0; i < 12; ++i) twelve[i] = Real(i);
  const Tensor x(twelve), matrix = reshape(x, {3, 4});
  draw(matrix.value(), "reshape [3, 4]");
  draw(reshape(x, {4, 3}).value(), "reshape [4, 3]");
  draw(permute(matrix, {1, 0}).value(), "permute {1, 0} [4, 3]");
  claim("reshape shares the buffer", matrix.value().same_buffer(twelve) ? 1 : 0, 1, 1);
  claim("permute shares the buffer", permute(matrix, {1, 0}).value().same_buffer(twelve) ? 1 : 0, 0,
        0);
  const Tensor large(zeros({1000, 1000}));
  claim("bytes, reshape of 8 MB", bytes_taken([&] { return reshape(large, {1000000}); }), 0, 0);
  claim("bytes, permute of 8 MB", bytes_taken([&] { return permute(large, {1, 0}); }), 8e6, 8e6);

  part("03/h");
  std::printf("orders of axes\n");
  const Orders three = orders_of({2, 3, 4}), four = orders_of({2, 3, 4, 5}),
               equal = orders_of({4, 8, 4, 8});
  claim("orders of 3 axes", double(three.all), 6, 6);
  claim("own inverse, of 6", double(three.own_inverse), 4, 4);
  claim("orders of 4 axes", double(four.all), 24, 24);
  claim("own inverse, of 24", double(four.own_inverse), 10, 10, "03/h");
  claim("wrong and fit, [2, 3, 4, 5]", double(four.fit), 0, 0);
  claim("wrong and fit, [4, 8, 4, 8]", double(equal.fit), 1, 14);
  claim("{0, 2, 1, 3} is its own inverse", is_inverse_of_itself({0, 2, 1, 3}) ? 1 : 0, 1, 1);
}

}  // namespace

int main() {
  set_num_threads(1);
  measure_contributions();
  draw_margins();
  measure_planes();
  measure_products();
  measure_views();
  write_arrows();
  return finish();
}
