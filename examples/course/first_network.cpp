// solutions: 01_1 01_2 01_3
// The first network: a film. A network whose every number is on the scalar tape of chapter 01
// learns XOR, and then two spirals that wind around each other. Adam and the clipping of chapter 04
// take its steps.
//
// usage: first_network [SEED]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "01_a_tape/value.hpp"
#include "facts.hpp"
#include "film.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/module.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/clipping.hpp"

using namespace headroom;
using scalar::Value;

namespace {

constexpr double pi = 3.14159265358979;
constexpr int columns = 31, rows = 17;  // of a picture

/// A point of the plane, and the side that it is on: 1 or -1.
struct Point {
  double x, y, side;
};

/// 2 numbers in, layers of tanh, 1 number out. Every number is a Value; the tensor holds the same
/// weights for the optimizer, which knows nothing of single numbers.
class Network : public Module {
 public:
  Network(std::vector<int> widths, Rng& rng) : widths_(std::move(widths)) {
    std::vector<Real> start;
    for (std::size_t layer = 1; layer < widths_.size(); ++layer) {
      const int inputs = widths_[layer - 1];
      for (int weight = 0; weight < widths_[layer] * (inputs + 1); ++weight) {
        start.push_back(Real(rng.normal() / std::sqrt(double(inputs))));
      }
    }
    const auto count = Index(start.size());
    for (const Real weight : start) weights_.emplace_back(weight);
    numbers = parameter(Array({count}, std::move(start)));
  }
  Value operator()(double x, double y) const {
    std::vector<Value> now{x, y};
    std::size_t next = 0;
    for (std::size_t layer = 1; layer < widths_.size(); ++layer) {
      std::vector<Value> sums;
      for (int i = 0; i < widths_[layer]; ++i) {
        Value sum = weights_[next++];
        for (const Value& number : now) sum = sum + weights_[next++] * number;
        sums.push_back(tanh(sum));
      }
      now = std::move(sums);
    }
    return now.front();
  }
  /// The mean of the squared errors of the points that are due at this step.
  Value loss(const std::vector<Point>& points, int step, int batch) const {
    Value sum = 0;
    for (int i = 0; i < batch; ++i) {
      const Point& point = points[std::size_t(step * batch + i) % points.size()];
      const Value error = (*this)(point.x, point.y) + -point.side;
      sum = sum + 1.0 / batch * error * error;
    }
    return sum;
  }
  /// The gradients of the tape, for the optimizer.
  void collect() {
    Array gradient(numbers.shape());
    for (std::size_t i = 0; i < weights_.size(); ++i) gradient[Index(i)] = weights_[i].grad();
    numbers.set_grad(gradient);
  }
  /// The optimizer's new weights, for the tape, with gradients of 0.
  void spread() {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      weights_[i].node()->value = numbers.value()[Index(i)];
      weights_[i].node()->gradient = 0;
    }
  }
  void members(Members& visit) override { visit("numbers", numbers); }
  std::string title() const override { return "Network"; }

  Tensor numbers;

 private:
  std::vector<int> widths_;
  std::vector<Value> weights_;
};

int right(const Network& network, const std::vector<Point>& points) {
  return int(std::count_if(points.begin(), points.end(), [&](const Point& point) {
    return network(point.x, point.y).value() * point.side > 0;
  }));
}

/// The network's output over the plane as a picture, with the points: o of one class, x of the
/// other.
std::string picture(const Network& network, const std::vector<Point>& points, int step, double loss,
                    const TerminalStyle& style) {
  const bool blocks = style.live && style.unicode;
  std::vector<std::string> cells;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const double x = 2.2 * column / (columns - 1) - 1.1, y = 1.1 - 2.2 * row / (rows - 1);
      const double answer = network(x, y).value();
      cells.emplace_back(answer > 0.6    ? (blocks ? "██" : "##")
                         : answer > 0    ? (blocks ? "▒▒" : "++")
                         : answer > -0.6 ? (blocks ? "░░" : "--")
                                         : "  ");
    }
  }
  for (const Point& point : points) {
    const int column = int(std::lround((point.x + 1.1) / 2.2 * (columns - 1)));
    const int row = int(std::lround((1.1 - point.y) / 2.2 * (rows - 1)));
    cells[std::size_t(row * columns + column)] = point.side > 0 ? " o" : " x";
  }
  char title[80];
  std::snprintf(title, sizeof title, "step %-5d loss %.3f   %d of %d points are on their side\n",
                step, loss, right(network, points), int(points.size()));
  std::string text = title;
  for (int row = 0; row < rows; ++row) {
    text += "|";
    for (int column = 0; column < columns; ++column) {
      text += cells[std::size_t(row * columns + column)];
    }
    text += " |\n";
  }
  return text;
}

struct Plan {
  std::vector<int> widths;
  int steps, batch, every;
  double rate;
};

/// The share of the points that the trained network puts on their side; shows the film.
double learn(const std::vector<Point>& points, const Plan& plan, std::uint64_t seed, bool shown) {
  Rng rng(seed, "network");
  Network network(plan.widths, rng);
  Adam adam(network);
  Film film(rows + 1);
  for (int step = 0; step <= plan.steps; ++step) {
    const Value loss = network.loss(points, step, plan.batch);
    if (shown && film.shows(step, plan.steps, plan.every)) {
      film.show(picture(network, points, step, loss.value(), film.style()));
    }
    if (step == plan.steps) break;
    loss.backward();
    network.collect();
    clip_grad_norm(network, 1);
    adam.step(plan.rate * (1 - 0.9 * step / plan.steps));
    network.spread();
  }
  return 100.0 * right(network, points) / double(points.size());
}

std::vector<Point> exclusive_or() {
  return {{-0.8, -0.8, -1}, {-0.8, 0.8, 1}, {0.8, -0.8, 1}, {0.8, 0.8, -1}};
}

/// Two arms that wind once and a half around the middle, in an order that mixes them.
std::vector<Point> spirals() {
  std::vector<Point> points;
  constexpr int count = 36;
  for (int i = 0; i < count; ++i) {
    const double along = double(i * 7 % count) / (count - 1);
    const double angle = 2.5 * pi * along, radius = 0.15 + 0.85 * along;
    for (const double side : {1.0, -1.0}) {
      points.push_back({side * radius * std::cos(angle), side * radius * std::sin(angle), side});
    }
  }
  return points;
}

}  // namespace

int main(int argc, char** argv) {
  set_num_threads(1);  // one number at a time
  char* end = nullptr;
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], &end, 10) : 1;
  if (argc > 2 || (argc > 1 && (*end != '\0' || end == argv[1]))) {
    std::fprintf(stderr, "error: usage: first_network [SEED], for example first_network 2\n");
    return 2;
  }
  const Plan small{{2, 6, 1}, 150, 4, 5, 0.05}, large{{2, 14, 10, 1}, 900, 18, 20, 0.02};
  std::printf("XOR: four points, and a network of 6 and 1 numbers on your tape\n");
  const double of_xor = learn(exclusive_or(), small, seed, true);
  std::printf("\nTwo spirals: 72 points, and a network of 14, 10 and 1 numbers on your tape\n");
  const double of_spirals = learn(spirals(), large, seed, true);
  std::printf("\n");
  claim("XOR, per cent right", of_xor, 100, 100);
  claim("spirals, per cent right", of_spirals, 95, 100);
  return finish();
}
