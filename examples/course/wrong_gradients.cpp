// Wrong gradients: numbers of chapter 02. A network learns with nine different faults in
// its gradients. The loss does not show most of them; gradcheck shows all.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "facts.hpp"
#include "headroom/autograd/gradcheck.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/ops/ops.hpp"
#include "planted.hpp"

using namespace headroom;

namespace {

/// A place in the network where a gradient can be wrong.
enum class Fault {
  none,
  square_missing,  // 1 - y in place of 1 - y^2
  of_x,            // 1 - x^2
  straight,        // 1: as if there were no tanh
  mean_of_bias,    // the bias gets the mean over the rows, not the sum
  last_row,        // the bias gets the last row's share only
  no_first_layer,  // zeros for everything below the tanh
  column_skipped,  // one hidden number gets nothing
  factor,          // half of the error's derivative
  flipped          // its sign
};

struct NamedFault {
  Fault fault;
  const char* name;
};

constexpr NamedFault faults[] = {{Fault::square_missing, "tanh: 1 - y, no square"},
                                 {Fault::of_x, "tanh: 1 - x^2"},
                                 {Fault::straight, "tanh: 1"},
                                 {Fault::mean_of_bias, "bias: mean, not sum"},
                                 {Fault::last_row, "bias: the last row alone"},
                                 {Fault::no_first_layer, "first layer: zeros"},
                                 {Fault::column_skipped, "one of 16 columns: zeros"},
                                 {Fault::factor, "loss: half of it"},
                                 {Fault::flipped, "loss: sign flipped"}};

constexpr Index rows = 64, inputs = 8, hidden = 16;

Tensor tanh_with(Fault fault, const Tensor& x) {
  const auto slope = [&](const WrongBackward& backward) {
    return with_backward("tanh", x, tanh(x.detach()).value(), backward);
  };
  switch (fault) {
    case Fault::square_missing:
      return slope([](const Array& dy, const Array&, const Array& y) {
        return each(dy, [&](Real d, Index i) { return d * (1 - y[i]); });
      });
    case Fault::of_x:
      return slope([](const Array& dy, const Array& x_, const Array&) {
        return each(dy, [&](Real d, Index i) { return d * (1 - x_[i] * x_[i]); });
      });
    case Fault::straight:
      return slope([](const Array& dy, const Array&, const Array&) { return dy.clone(); });
    case Fault::no_first_layer:
      return slope([](const Array& dy, const Array&, const Array&) { return zeros(dy.shape()); });
    case Fault::column_skipped:
      return slope([](const Array& dy, const Array&, const Array& y) {
        return each(dy, [&](Real d, Index i) {
          return i % hidden == hidden - 1 ? Real(0) : d * (1 - y[i] * y[i]);
        });
      });
    default: return tanh(x);
  }
}

Tensor add_bias(Fault fault, const Tensor& x, const Tensor& bias) {
  if (fault != Fault::mean_of_bias && fault != Fault::last_row) return x + bias;
  OpScope op("add_bias");
  return record(op, (x.detach() + bias.detach()).value(), {x, bias},
                [fault](const Array& dy, Gradients& into) {
                  into[0] += dy;
                  const Index columns = dy.dim(1);
                  Array sum = zeros({columns});
                  for (Index i = 0; i < dy.size(); ++i) {
                    if (fault == Fault::mean_of_bias) sum[i % columns] += dy[i] / Real(dy.dim(0));
                    if (fault == Fault::last_row && i >= dy.size() - columns) {
                      sum[i % columns] += dy[i];
                    }
                  }
                  into[1] += sum;
                });
}

/// mean((x - target)^2)
Tensor loss_of(Fault fault, const Tensor& x, const Tensor& target) {
  const Tensor loss = squared_error(x, target);
  if (fault != Fault::factor && fault != Fault::flipped) return loss;
  const Real factor = fault == Fault::factor ? Real(0.5) : Real(-1);
  return with_backward("loss", loss, loss.value().clone(),
                       [=](const Array& dy, const Array&, const Array&) {
                         return each(dy, [=](Real d, Index) { return factor * d; });
                       });
}

/// The loss of a network of two layers, tanh between them.
Tensor network(Fault fault, const std::vector<Tensor>& p, const Tensor& x, const Tensor& target) {
  const Tensor h = tanh_with(fault, add_bias(fault, matmul(x, p[0]), p[1]));
  return loss_of(fault, add_bias(fault, matmul(h, p[2]), p[3]), target);
}

/// A network that imitates another one, by plain descent.
struct Lesson {
  explicit Lesson(std::uint64_t seed) : rng(seed, "gradient error") {
    const auto draw = [&](const Shape& shape, double size) {
      return normal(shape, Real(size), rng);
    };
    const std::vector<Array> teacher{draw({inputs, hidden}, 0.5), draw({hidden}, 0.5),
                                     draw({hidden, 1}, 0.5), draw({1}, 0.5)};
    x = draw({rows, inputs}, 1);
    std::vector<Tensor> constants;
    for (const Array& p : teacher) constants.emplace_back(p);
    const Tensor h = tanh(matmul(Tensor(x), constants[0]) + constants[1]);
    target = (matmul(h, constants[2]) + constants[3]).value();
    start = {draw({inputs, hidden}, 0.35), zeros({hidden}), draw({hidden, 1}, 0.25), zeros({1})};
  }
  /// The last loss over the first one.
  double learn(Fault fault, int steps = 1000) const {
    std::vector<Tensor> p;
    for (const Array& values : start) p.push_back(parameter(values.clone()));
    double first = 0, last = 0;
    for (int step = 0; step <= steps; ++step) {
      const Tensor loss = network(fault, p, Tensor(x), Tensor(target));
      last = double(loss.item());
      if (step == 0) first = last;
      loss.backward();
      for (Tensor& tensor : p) {
        const Array gradient = tensor.grad();
        Array& value = tensor.edit_value();
        for (Index i = 0; i < value.size(); ++i) value[i] -= Real(0.1) * gradient[i];
        tensor.zero_grad();
      }
    }
    return last / first;
  }
  GradcheckResult check(Fault fault) const {
    return gradcheck(
        [&](const std::vector<Tensor>& p) { return network(fault, p, Tensor(x), Tensor(target)); },
        start);
  }

  Rng rng;
  Array x, target;
  std::vector<Array> start;
};

void measure_trainings() {
  std::printf("loss after / before 1000 steps, worst of five seeds; gradcheck: error / allowed\n");
  Range right;
  double most_allowed = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Lesson lesson(seed);
    right.add(lesson.learn(Fault::none));
    most_allowed = std::max(most_allowed, double(lesson.check(Fault::none).worst));
  }
  std::printf("%-32s %-10.2g %.2g\n", "no fault", right.most, most_allowed);
  int fall = 0, caught = 0;
  for (const NamedFault& named : faults) {
    Range ratio, error;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Lesson lesson(seed);
      ratio.add(lesson.learn(named.fault));
      error.add(double(lesson.check(named.fault).worst));
    }
    std::printf("%-32s %-10.2g %.2g\n", named.name, ratio.most, error.least);
    fall += ratio.most < 1.0 / 3 ? 1 : 0;
    caught += error.least > 1 ? 1 : 0;
  }
  claim("most of error / allowed", most_allowed, 0, 0.1);
  claim("faults", std::size(faults), 9, 9);
  claim("faults with a falling loss", fall, 7, 7, "02/a");
  claim("faults that gradcheck finds", caught, 9, 9);
}

}  // namespace

int main() {
  set_num_threads(1);  // the arrays are small, and the results do not depend on the threads
  part("02/a");
  measure_trainings();
  return finish();
}
