// Explosions: the numbers of chapter 04. A deep network whose loss becomes NaN in three ways; the
// size of activations by depth for three initialisations; the length of Adam's steps; one bad
// batch.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "facts.hpp"
#include "figure.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/nn/linear.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/optim/sgd.hpp"
#include "range.hpp"

using namespace headroom;

namespace {

constexpr Index width = 32, classes = 8, depth = 20, train_size = 128, test_size = 500;
constexpr double clip_limit = 1;

/// The standard deviation of the weights of a layer with a ReLU behind it.
enum class Start { one, xavier, he };

double deviation(Start start) {
  if (start == Start::one) return 1;
  return std::sqrt((start == Start::he ? 2.0 : 1.0) / double(width));
}

/// A Linear and a ReLU, twenty times, and a Linear that gives the logits.
class Tower : public Module {
 public:
  Tower(Start start, Rng& rng) {
    const auto drawn = [&](Index rows, double size) {
      return std::make_unique<Linear>(normal({rows, width}, Real(size), rng), zeros({rows}));
    };
    for (Index i = 0; i < depth; ++i) layers.push_back(drawn(width, deviation(start)));
    out = drawn(classes, start == Start::one ? 1 : deviation(Start::xavier));
  }
  Tensor operator()(const Tensor& x) const {
    Tensor h = x;
    for (const auto& layer : layers) h = relu((*layer)(h));
    return (*out)(h);
  }
  void members(Members& visit) override {
    visit("layers", layers);
    visit("out", *out);
  }
  std::string title() const override { return "Tower"; }

  std::vector<std::unique_ptr<Linear>> layers;
  std::unique_ptr<Linear> out;
};

/// Points around one random centre for each class.
struct Points {
  Tensor x;
  Ids target;
};

Points draw(const Array& centres, Index count, Rng& rng) {
  Array x = normal({count, width}, 1, rng);
  Ids target({count});
  for (Index i = 0; i < x.size(); ++i) {
    if (i % width == 0) target[i / width] = static_cast<std::int32_t>(rng.below(classes));
    x[i] += centres[target[i / width] * width + i % width];
  }
  return {Tensor(x), target};
}

/// -log of the targets' shares, in two steps, as one would write it down.
Tensor loss_of_shares(const Tensor& shares, const Ids& target) {
  Array wanted = zeros(shares.shape());
  for (Index row = 0; row < target.size(); ++row) wanted[row * classes + target[row]] = 1;
  return -(sum(log(sum(shares * Tensor(wanted), {-1}))) / Real(target.size()));
}

Tensor naive_softmax(const Tensor& x) {
  const Tensor e = exp(x);
  return e / sum(e, {-1}, true);
}

enum class Rule { sgd, clipped_sgd, adam };

/// A tower, points to learn from, and an optimizer.
struct Learner {
  Learner(Start start, Rule of, std::uint64_t seed)
      : rng(seed, "explosions"),
        centres(normal({classes, width}, 1, rng)),
        train(draw(centres, train_size, rng)),
        test(draw(centres, test_size, rng)),
        tower(start, rng),
        rule(of) {
    if (rule == Rule::adam) {
      optimizer = std::make_unique<Adam>(tower);
    } else {
      optimizer = std::make_unique<Sgd>(tower);
    }
  }
  double loss() const {
    const NoGrad quiet;
    return double(cross_entropy(tower(train.x), train.target).item());
  }
  /// One step; returns the norm of the gradient before clipping.
  double step(const Points& points, double rate, bool clipped) {
    optimizer->zero_grad();
    cross_entropy(tower(points.x), points.target).backward();
    const double norm = clipped ? clip_grad_norm(tower, clip_limit) : grad_norm(tower);
    optimizer->step(rate);
    return norm;
  }
  void learn(int steps) {
    for (int i = 0; i < steps; ++i) {
      step(train, rule == Rule::adam ? 0.003 : 0.05, rule == Rule::clipped_sgd);
    }
  }
  /// The percentage of new points of which the right class has the largest logit.
  double percent_right() const {
    const NoGrad quiet;
    const Ids said = argmax(tower(test.x).value());
    Index right = 0;
    for (Index i = 0; i < test_size; ++i) right += said[i] == test.target[i] ? 1 : 0;
    return 100 * double(right) / double(test_size);
  }

  Rng rng;
  Array centres;
  Points train, test;
  Tower tower;
  Rule rule;
  std::unique_ptr<Optimizer> optimizer;
};

/// Prints a number that may be NaN, infinite or huge.
void show(const char* key, double value) {
  if (std::isnan(value)) {
    std::printf("%-32s NaN\n", key);  // some are -nan, which says nothing more
  } else {
    std::printf("%-32s %.3g\n", key, value);
  }
}

void measure_softmax() {
  part("04/a");
  const Tensor x(Array({2}, {1000, 1001}));
  show("naive softmax of 1000, 1001", double(naive_softmax(x).value()[0]));
  const double most = std::log(std::numeric_limits<double>::max());
  claim("largest n with a finite e^n", std::floor(most), 709, 709);
  claim("the same in float", std::floor(std::log(double(std::numeric_limits<float>::max()))), 88,
        88);
  const Array y = softmax(x).value();
  claim("share of 1000", double(y[0]), 0.26894142, 0.26894143, "04/a");
  claim("share of 1001", double(y[1]), 0.73105857, 0.73105858);
}

void measure_cross_entropy() {
  part("04/b");
  const Ids target(Shape{1}, {0});
  Tensor x = parameter(Array({1, 2}, {0, 800}));
  const Tensor in_two_steps = loss_of_shares(softmax(x), target);
  show("loss by log of softmax", double(in_two_steps.item()));
  in_two_steps.backward();
  show("its gradient", double(x.grad()[1]));
  x.zero_grad();
  const Tensor loss = cross_entropy(x, target);
  claim("loss from the logits", double(loss.item()), 800, 800, "04/b");
  loss.backward();
  claim("gradient of the target's logit", double(x.grad()[0]), -1, -1);
  claim("gradient of the other logit", double(x.grad()[1]), 1, 1);
  const Tensor equal(zeros({1, classes}));
  claim("loss of a guess among 8", double(cross_entropy(equal, target).item()), 2.0794415,
        2.0794416);
}

/// The first steps of a network with weights of deviation 1.
void measure_collapse() {
  int nan = 0, infinite = 0, collapsed = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Learner learner(Start::one, Rule::sgd, seed);
    const Tensor logits = learner.tower(learner.train.x);
    const auto naive = double(loss_of_shares(naive_softmax(logits), learner.train.target).item());
    const auto stable = double(loss_of_shares(softmax(logits), learner.train.target).item());
    double losses[3], norms[2];
    for (int i = 0; i < 3; ++i) {
      losses[i] = learner.loss();
      if (i < 2) norms[i] = learner.step(learner.train, 0.05, false);
    }
    nan += std::isnan(naive) ? 1 : 0;
    infinite += std::isinf(stable) ? 1 : 0;
    collapsed += losses[1] > 1e100 && std::isnan(losses[2]) ? 1 : 0;
    if (seed != 1) continue;
    show("naive softmax, log", naive);
    show("softmax, log", stable);
    claim("cross_entropy", losses[0], 1e9, 1e17);
    claim("its gradient's norm", norms[0], 1e9, 1e17);
    show("cross_entropy after 1 step", losses[1]);
    show("cross_entropy after 2 steps", losses[2]);
  }
  claim("naive softmax: NaN, of 5", nan, 5, 5);
  claim("softmax, log: infinite, of 5", infinite, 5, 5);
  claim("NaN after 2 steps, of 5", collapsed, 5, 5);
}

/// The root mean square of the activations in front of each layer, and behind the last one.
std::vector<double> sizes_by_depth(Start start, std::uint64_t seed) {
  const NoGrad quiet;
  Rng rng(seed, "depth");
  const Tower tower(start, rng);
  Tensor h(normal({train_size, width}, 1, rng));
  std::vector<double> sizes;
  for (Index i = 0; i <= depth; ++i) {
    double squares = 0;
    for (const Real v : h.value().span()) squares += double(v) * double(v);
    sizes.push_back(std::sqrt(squares / double(h.size())));
    if (i < depth) h = relu((*tower.layers[std::size_t(i)])(h));
  }
  return sizes;
}

/// A strip with a letter for each of the three sizes, from 1e-4 to 1e12 on a log axis.
std::string strip(double one, double xavier, double he) {
  std::string text(33, '.');
  const auto put = [&](double size, char letter) {
    text[std::size_t(std::lround(2 * (std::log10(size) + 4)))] = letter;
  };
  put(one, '1');
  put(xavier, 'x');
  put(he, 'h');
  return text;
}

void measure_depth() {
  part("04/c");
  Range last[3];
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<double> one = sizes_by_depth(Start::one, seed),
                              xavier = sizes_by_depth(Start::xavier, seed),
                              he = sizes_by_depth(Start::he, seed);
    last[0].add(one.back());
    last[1].add(xavier.back());
    last[2].add(he.back());
    if (seed != 1) continue;
    std::printf("layer   1e-4    1       1e4     1e8     1e12\n");
    for (std::size_t i = 0; i < one.size(); i += 4) {
      std::printf("%5zu   %s\n", i, strip(one[i], xavier[i], he[i]).c_str());
    }
    claim("20 layers, deviation 1", one.back(), 1e10, 1e14, "04/c");
    claim("20 layers, Xavier", xavier.back(), 1e-4, 1e-2);
    claim("20 layers, He", he.back(), 0.1, 10);
  }
  claim("He: least of five seeds", last[2].least, 0.1, 1);
  claim("He: most of five seeds", last[2].most, 1, 10);
  claim("deviation 1: least", last[0].least, 1e10, 1e14);
  claim("Xavier: most", last[1].most, 1e-5, 1e-2);
}

/// One parameter of one element.
class Single : public Module {
 public:
  void members(Members& visit) override { visit("p", p); }
  std::string title() const override { return "Single"; }
  Tensor p = parameter(Array({1}, {0}));
};

/// A parameter with an Adam, which gets the gradients that it is told.
struct Walker {
  /// The length of the step that a gradient causes at the learning rate 0.01.
  double step(double gradient) {
    const auto before = double(single.p.value()[0]);
    single.p.set_grad(Array({1}, {Real(gradient)}));
    adam.step(0.01);
    return before - double(single.p.value()[0]);
  }
  Single single;
  Adam adam{single};
};

void measure_adam() {
  part("04/d");
  claim("first step, gradient 0.001", Walker().step(0.001), 0.009999, 0.010001, "04/d");
  claim("first step, gradient 1000000", Walker().step(1e6), 0.009999, 0.010001);
  // Without the correction, by the formula: all gradients are 1, so m = 1 - beta1^t.
  double longest = 0;
  int at = 0;
  for (int t = 1; t <= 1000; ++t) {
    const double length =
        0.01 * (1 - std::pow(0.9, t)) / (std::sqrt(1 - std::pow(0.999, t)) + 1e-8);
    if (t == 1) claim("uncorrected, first step", length, 0.0316, 0.0317);
    if (length > longest) {
      longest = length;
      at = t;
    }
  }
  claim("uncorrected, longest step", longest, 0.065, 0.067);
  claim("uncorrected, longest is step", at, 10, 14);
}

/// Three rules on three initialisations: how many of 500 new points are right, in percent.
void measure_rules() {
  part("");  // answers nothing: shown in any case
  struct Cell {
    Start start;
    Rule rule;
    const char *worst, *best;
    double least, most;  // the bounds of both
  };
  const Cell cells[] = {
      {Start::one, Rule::clipped_sgd, "deviation 1, clipped: worst", "deviation 1, clipped: best",
       0, 40},
      {Start::one, Rule::adam, "deviation 1, Adam: worst", "deviation 1, Adam: best", 0, 40},
      {Start::xavier, Rule::sgd, "Xavier, SGD: worst", "Xavier, SGD: best", 0, 40},
      {Start::xavier, Rule::adam, "Xavier, Adam: worst", "Xavier, Adam: best", 45, 100},
      {Start::he, Rule::sgd, "He, SGD: worst", "He, SGD: best", 5, 95},
      {Start::he, Rule::clipped_sgd, "He, clipped: worst", "He, clipped: best", 25, 100},
      {Start::he, Rule::adam, "He, Adam: worst", "He, Adam: best", 45, 100}};
  for (const Cell& cell : cells) {
    Range right;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Learner learner(cell.start, cell.rule, seed);
      learner.learn(300);
      right.add(learner.percent_right());
    }
    claim(cell.worst, right.least, cell.least, cell.most);
    claim(cell.best, right.most, cell.least, cell.most);
    if (cell.start == Start::he && cell.rule == Rule::sgd) {
      claim("He, SGD: best - worst", right.most - right.least, 20, 100);
    }
  }
}

/// Adam after one gradient that is 100 times too long.
void measure_memory() {
  part("04/e");
  Walker walker;
  for (int i = 0; i < 5000; ++i) walker.step(1);
  walker.step(100);
  double longest = 0, shortest = 1;
  int half = 0;
  for (int i = 1; half == 0 && i < 10000; ++i) {
    const double length = walker.step(1) / 0.01;
    longest = std::max(longest, length);
    shortest = std::min(shortest, length);
    if (i > 50 && length >= 0.5) half = i;
  }
  claim("longest step afterwards", longest, 2.5, 3);
  claim("shortest step afterwards", shortest, 0.3, 0.33);
  claim("steps until half the length", half, 1150, 1250, "04/e");
}

/// A network in training, and one batch whose inputs are 100 times too large.
void measure_bad_batch() {
  part("");  // answers nothing: shown in any case
  Range rise, rise_clipped, longer;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const bool clipped : {false, true}) {
      Learner learner(Start::he, Rule::adam, seed);
      double usual = 0;
      for (int i = 0; i < 100; ++i) {
        usual = learner.step(draw(learner.centres, 32, learner.rng), 0.001, clipped);
      }
      const double before = learner.loss();
      Points bad = draw(learner.centres, 32, learner.rng);
      bad.x = bad.x * Real(100);
      const double norm = learner.step(bad, 0.001, clipped);
      for (int i = 0; i < 10; ++i) {
        learner.step(draw(learner.centres, 32, learner.rng), 0.001, clipped);
      }
      const double after = learner.loss();
      (clipped ? rise_clipped : rise).add(after / before);
      if (!clipped) longer.add(norm / usual);
      if (seed != 1) continue;
      fact(clipped ? "clipped: loss before" : "loss before", before);
      fact(clipped ? "clipped: loss 10 steps later" : "loss 10 steps later", after);
    }
  }
  claim("bad gradient, least", longer.least, 20, 1e6);
  claim("loss rises at least by", rise.least, 1.15, 100);
  claim("clipped: at most by", rise_clipped.most, 0.5, 1.1);
}

// ---------------------------------------------------------------- the figure

/// A point in a valley twenty times as steep across as along: L = sum of bend * point^2.
struct Valley : Module {
  void members(Members& visit) override { visit("point", point); }
  std::string title() const override { return "Valley"; }
  Tensor loss() const { return sum(bend * point * point); }

  Tensor point = parameter(Array({2}, {-8, 2})), bend{Array({2}, {Real(0.05), 1})};
};

/// The paths of three rules through the valley, for several learning rates.
void write_paths() {
  if (!figure_wanted()) return;
  Record paths = Record::object();
  for (const char* rate : {"0.03", "0.1", "0.3", "0.9", "1.1"}) {
    for (const char* rule : {"plain descent", "momentum", "Adam"}) {
      Valley valley;
      std::unique_ptr<Optimizer> optimizer = std::make_unique<Adam>(valley);
      if (rule[0] == 'p') optimizer = std::make_unique<Sgd>(valley);
      if (rule[0] == 'm') optimizer = std::make_unique<Sgd>(valley, SgdOptions{.momentum = 0.9});
      Record path = Record::array();
      for (int step = 0; step <= 80; ++step) {
        const Array at = valley.point.value();
        path.push_back({at[0], at[1]});
        optimizer->zero_grad();
        valley.loss().backward();
        optimizer->step(std::atof(rate));
      }
      paths[rate][rule] = path;
    }
  }
  write_figure({{"bend", {0.05, 1}}, {"paths", paths}});
}

}  // namespace

int main() {
  set_num_threads(1);  // the arrays are small, and the results do not depend on the threads
  measure_collapse();
  measure_softmax();
  measure_cross_entropy();
  measure_depth();
  measure_adam();
  measure_rules();
  measure_memory();
  measure_bad_batch();
  write_paths();
  return finish();
}
