// Depth: the numbers of chapter 09. Twelve layers are stacked in five ways, before training and
// while they learn; then the smaller parts of a layer: norm, positions, dropout.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "facts.hpp"
#include "figure.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/nn/layers.hpp"
#include "headroom/nn/transformer.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/surgery/transplant.hpp"
#include "range.hpp"

using namespace headroom;

namespace {

constexpr Index width = 32, heads = 4, layers = 12, batch = 8, tokens = 8, letters = 10;

/// How a layer is put together of f = self-attention, then f = feed-forward.
enum class Form {
  branch,    // f(x)
  residual,  // x + f(x)
  normed,    // norm(f(x))
  post,      // norm(x + f(x))
  pre        // x + f(norm(x))
};

double norm_of(const Array& a) {
  double sum = 0;
  for (const Real value : a.span()) sum += double(value) * double(value);
  return std::sqrt(sum);
}

/// The norm of all gradients of a module.
double gradient_norm(Module& module) {
  double squares = 0;
  for (const NamedParameter& p : parameters(module)) {
    if (p.tensor.grad().defined()) squares += std::pow(norm_of(p.tensor.grad()), 2);
  }
  return std::sqrt(squares);
}

/// 1 - the mean cosine of two tokens of one sequence: 0 if all tokens are alike.
double variety(const Array& y) {
  double cosines = 0;
  Index pairs = 0;
  const auto product = [&](Index s, Index t) {
    double sum = 0;
    for (Index c = 0; c < width; ++c) sum += double(y[s * width + c]) * double(y[t * width + c]);
    return sum;
  };
  for (Index t = 0; t < batch * tokens; ++t) {
    for (Index s = t - t % tokens; s < t; ++s, ++pairs) {
      cosines += product(s, t) / std::sqrt(product(s, s) * product(t, t));
    }
  }
  return 1 - cosines / double(pairs);
}

/// The geometric mean, over tokens, of the deviation of a token.
double deviation(const Array& y) {
  double logs = 0;
  for (Index t = 0; t < y.size(); t += width) {
    double mean = 0, squares = 0;
    for (Index c = 0; c < width; ++c) mean += double(y[t + c]) / double(width);
    for (Index c = 0; c < width; ++c) squares += std::pow(double(y[t + c]) - mean, 2);
    logs += std::log(squares / double(width)) / 2;
  }
  return std::exp(logs * double(width) / double(y.size()));
}

/// Twelve layers that read tokens and guess which letter stands at the mirrored position.
struct Stack {
  Stack(Form how, std::uint64_t seed)
      : form(how),
        rng(seed, "depth"),
        encoder({.width = width, .heads = heads, .norm_first = how == Form::pre}, layers,
                how == Form::pre, rng),
        embedding(letters, width, rng, 1),
        positions(PositionKind::sinusoidal, tokens, width, rng),
        output(width, letters, rng),
        data(seed, "letters") {}

  /// The output of the layers. Adds to *path the logarithm of what the norms divide the residual
  /// path by, and to *sizes the root mean square of each layer's output.
  Tensor layers_of(const Tensor& x, double* path = nullptr, Record* sizes = nullptr) const {
    Tensor y = x;
    for (const auto& layer : encoder.layers) {
      const auto look = [&](const Tensor& v) {
        return attend(layer->self_attn(), v, v, AttentionMask::none(), nullptr, nullptr);
      };
      const auto think = [&](const Tensor& v) { return layer->feed_forward(v); };
      if (form == Form::branch) {
        y = think(look(y));
      } else if (form == Form::residual) {
        const Tensor h = y + look(y);
        y = h + think(h);
      } else if (form == Form::normed) {
        y = layer->norm2(think(layer->norm1(look(y))));
      } else {
        if (path != nullptr && form == Form::post) {
          const Tensor sum = y + look(y), h = layer->norm1(sum);
          *path += std::log(deviation(sum.value())) + std::log(deviation((h + think(h)).value()));
        }
        y = (*layer)(y, AttentionMask::none());
      }
      if (sizes != nullptr) {
        sizes->push_back(rounded_number(norm_of(y.value()) / std::sqrt(double(y.size())), 3));
      }
    }
    if (form != Form::pre) return y;
    if (path != nullptr) *path += std::log(deviation(y.value()));
    return (*encoder.norm)(y);
  }

  Tensor input(const Ids& ids) const { return positions(embedding(ids)); }
  Ids draw() {
    Ids ids({batch, tokens});
    for (Index i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(data.below(letters));
    return ids;
  }
  static Ids mirrored(const Ids& ids) {
    Ids result({batch, tokens});
    for (Index i = 0; i < ids.size(); ++i) {
      result[i] = ids[i - i % tokens + tokens - 1 - i % tokens];
    }
    return result;
  }
  /// A forward and a backward pass; returns the loss.
  double learn(Record* sizes = nullptr) {
    for (Module* module : {static_cast<Module*>(&encoder), static_cast<Module*>(&embedding),
                           static_cast<Module*>(&output)}) {
      zero_grad(*module);
    }
    const Ids ids = draw();
    const Tensor loss = cross_entropy(output(layers_of(input(ids), nullptr, sizes)), mirrored(ids));
    loss.backward();
    return double(loss.item());
  }
  double layer_gradient(Index layer) { return gradient_norm(*encoder.layers[std::size_t(layer)]); }

  Form form;
  Rng rng;
  Encoder encoder;
  Embedding embedding;
  Positions positions;
  Linear output;
  Rng data;
};

/// A stack before its first step.
struct Start {
  Range first, last, ratio, size, variety, path;
};

Start at_start(Form form, const char* name) {
  Start start;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Stack stack(form, seed);
    stack.learn();
    if (seed == 1) {
      std::printf("%-16s", name);
      for (const Index layer : {0, 3, 7, 11}) std::printf("  %8.2g", stack.layer_gradient(layer));
      std::printf("\n");
    }
    start.first.add(stack.layer_gradient(0));
    start.last.add(stack.layer_gradient(layers - 1));
    start.ratio.add(start.first.values.back() / start.last.values.back());
    const NoGrad quiet;
    const Tensor x = stack.input(stack.draw());
    double path = 0;
    const Array y = stack.layers_of(x, &path).value();
    start.size.add(norm_of(y) / norm_of(x.value()));
    start.variety.add(variety(y));
    start.path.add(std::exp(-path));
  }
  return start;
}

/// Trainings with Adam at a constant learning rate, after `warmup` steps in which it grows.
struct Run {
  Range loss, gradient;  // the mean loss of the last 25 steps; layer 1's gradient after 50 steps
};

Run train(Form form, int warmup, double peak) {
  constexpr int steps = 200;
  Run run;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Stack stack(form, seed);
    Adam of_layers(stack.encoder), of_embedding(stack.embedding), of_output(stack.output);
    double last = 0, gradients = 0;
    for (int step = 0; step < steps; ++step) {
      const double loss = stack.learn();
      if (step >= steps - 25) last += loss / 25;
      if (step >= 50 && step < 60) gradients += std::log(stack.layer_gradient(0)) / 10;
      const double rate = peak * std::min(1.0, double(step + 1) / std::max(1, warmup));
      for (Adam* adam : {&of_layers, &of_embedding, &of_output}) adam->step(rate);
    }
    run.loss.add(last);
    run.gradient.add(std::exp(gradients));
  }
  return run;
}

// ---------------------------------------------------------------- the parts

void measure_norm() {
  Rng rng(1, "norm");
  const Array row = normal({6, width}, 1, rng), dy = normal({6, width}, 1, rng);
  const Tensor x = parameter(row), large = parameter((Tensor(row) * Real(1000)).value().clone());
  const Tensor y = layer_norm(x, {}, {}), z = layer_norm(large, {}, {});
  y.backward(dy);
  z.backward(dy);
  claim("1000 x: y moves by", relative_difference(y.value(), z.value()), 0, 1e-4, "09/c");
  claim("1000 x: dx is multiplied by", norm_of(large.grad()) / norm_of(x.grad()), 0.00099, 0.00101,
        "09/d");
  double along = 0, sums = 0;
  for (Index r = 0; r < 6; ++r) {
    double product = 0, sum = 0;
    for (Index c = 0; c < width; ++c) {
      product += double(large.grad()[r * width + c]) * double(z.value()[r * width + c]);
      sum += double(large.grad()[r * width + c]);
    }
    along = std::max(along, std::abs(product) / norm_of(large.grad()));
    sums = std::max(sums, std::abs(sum) / norm_of(large.grad()));
  }
  claim("dx along n", along, 0, 1e-9);
  claim("sum of dx", sums, 0, 1e-12);
  const Array one = layer_norm(Tensor(Array({4}, {1, 0, 0, 0})), {}, {}).value();
  claim("norm of 1 0 0 0", double(one[0]), 1.7320, 1.7321);
}

void measure_order() {
  Stack stack(Form::pre, 1);
  const NoGrad quiet;
  const Ids ids = stack.draw();
  Ids swapped({batch, tokens});
  for (Index i = 0; i < ids.size(); ++i) {
    const Index t = i % tokens;
    swapped[i] = ids[t == 2 ? i + 3 : t == 5 ? i - 3 : i];
  }
  const auto moved = [&](const Tensor& before, const Tensor& after) {
    const Array a = stack.layers_of(before).value(), b = stack.layers_of(after).value();
    double most = 0;
    for (Index i = 0; i < a.size(); ++i) {
      const Index t = i / width % tokens;
      const Index other = t == 2 ? i + 3 * width : t == 5 ? i - 3 * width : i;
      most = std::max(most, std::abs(double(b[i]) - double(a[other])));
    }
    return most;
  };
  claim("swap, without positions", moved(stack.embedding(ids), stack.embedding(swapped)), 0, 1e-10);
  claim("swap, with positions", moved(stack.input(ids), stack.input(swapped)), 0.1, 1e3);
}

void measure_positions() {
  constexpr Index longest = 48, channels = 32;
  Rng rng(1, "positions");
  const Array table = Positions(PositionKind::sinusoidal, longest, channels, rng).weight.value();
  Array shifted({longest, channels});  // the exponent c / C instead of 2i / C
  for (Index i = 0; i < shifted.size(); ++i) {
    const Index c = i % channels;
    const double angle = double(i / channels) / std::pow(10000.0, 2 * double(c) / double(channels));
    shifted[i] = Real(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
  }
  for (Index t = 0; t < 12; ++t) {
    std::string line;
    for (Index c = 0; c < channels; ++c) {
      const double value = double(table[t * channels + c]);
      line += value < -0.5 ? '-' : value < 0.001 ? '.' : value < 0.5 ? ':' : '#';
    }
    std::printf("t %-2d %s\n", int(t), line.c_str());
  }
  const auto product = [&](const Array& of, Index s, Index t) {
    double sum = 0;
    for (Index c = 0; c < channels; ++c) {
      sum += double(of[s * channels + c]) * double(of[t * channels + c]);
    }
    return sum;
  };
  const auto spread = [&](const Array& of) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (Index t = 0; t + 3 < longest; ++t) {
      least = std::min(least, product(of, t, t + 3));
      most = std::max(most, product(of, t, t + 3));
    }
    return most - least;
  };
  claim("dot product, the same position", product(table, 5, 5), 15.999, 16.001);
  claim("dot product, next position", product(table, 5, 6), 14, 16);
  claim("dot product, 10 positions on", product(table, 5, 15), 8, 13);
  claim("distance 3: spread", spread(table), 0, 1e-5);
  claim("distance 3: spread, doubled", spread(shifted), 0.1, 16);
}

void measure_dropout() {
  const Array ones_of({1000, width}, 1);
  const Real p = Real(0.1);
  const auto mean = [](const Array& a) {
    double sum = 0;
    for (const Real value : a.span()) sum += double(value);
    return sum / double(a.size());
  };
  Tensor sum(ones_of);
  claim("mean after dropout", mean(dropout(sum, p, MaskStream(1, 1, 1)).value()), 0.99, 1.01);
  for (std::uint64_t half = 0; half < 2 * layers; ++half) {
    sum = dropout(sum, p, MaskStream(1, 1, half));
  }
  Index alive = 0;
  for (const Real value : sum.value().span()) alive += value != 0 ? 1 : 0;
  claim("path elements that survive", double(alive) / double(sum.size()), 0.06, 0.1, "09/h");
  claim("their size",
        double(*std::max_element(sum.value().span().begin(), sum.value().span().end())), 12, 13);
}

// ---------------------------------------------------------------- the figure

/// The size of each layer's output and the norm of its gradient, before some steps of trainings
/// like those of train(), of one seed. The training without norms is "rough": it is unstable, and
/// differs between processors.
void write_signals() {
  if (!figure_wanted()) return;
  const struct {
    const char* name;
    Form form;
    int warmup;
  } ways[] = {{"branch", Form::branch, 0},
              {"residual", Form::residual, 0},
              {"post", Form::post, 0},
              {"warm", Form::post, 100},
              {"pre", Form::pre, 0}};
  Record trainings = Record::object();
  for (const auto& way : ways) {
    Stack stack(way.form, 1);
    Adam of_layers(stack.encoder), of_embedding(stack.embedding), of_output(stack.output);
    of_layers.may_be_unused([](const NamedParameter&) { return true; });  // the norms of f(x)
    Record frames = Record::array();
    for (int step = 0; step <= 100; ++step) {
      Record sizes = Record::array(), gradients = Record::array();
      const double loss = stack.learn(&sizes);
      for (Index layer = 0; layer < layers; ++layer) {
        gradients.push_back(rounded_number(stack.layer_gradient(layer), 3));
      }
      if (step % (step < 20 ? 2 : 10) == 0) {
        frames.push_back(
            {{"step", step}, {"loss", loss}, {"sizes", sizes}, {"gradients", gradients}});
      }
      const double rate = 0.003 * std::min(1.0, double(step + 1) / std::max(1, way.warmup));
      for (Adam* adam : {&of_layers, &of_embedding, &of_output}) adam->step(rate);
    }
    trainings[way.name] = frames;
  }
  write_figure({{"rough", {"residual"}}, {"trainings", trainings}});
}

}  // namespace

int main() {
  set_num_threads(1);  // the layers are small, and the results do not depend on the threads
  part("09/a");
  std::printf("gradient norm of the layers 1, 4, 8, 12, before the first step\n");
  const Start branch = at_start(Form::branch, "f(x)");
  const Start residual = at_start(Form::residual, "x + f(x)");
  const Start normed = at_start(Form::normed, "norm(f(x))");
  std::printf("median of five seeds, before the first step\n");
  claim("branch: layer 1 / layer 12", branch.ratio.middle(), 1e-4, 0.03, "09/a");
  claim("residual: layer 1", residual.first.middle(), 1e3, 1e8);
  part("09/b");
  claim("residual: output / input", residual.size.middle(), 30, 3000, "09/b");
  part("09/c", "09/d");
  measure_norm();
  part("09/e", "09/f");
  const Start post = at_start(Form::post, "norm(x + f(x))");
  const Start pre = at_start(Form::pre, "x + f(norm(x))");
  claim("post: layer 1", post.first.middle(), 0.3, 10, "09/e");
  claim("pre: layer 1", pre.first.middle(), 0.3, 10, "09/f");
  claim("post: layer 12", post.last.middle(), 1, 20);
  claim("pre: layer 12", pre.last.middle(), 0.1, 2);
  claim("post: the path is multiplied by", post.path.middle(), 1e-8, 1e-2);
  claim("pre: the path is multiplied by", pre.path.middle(), 0.1, 0.9);
  claim("variety, f(x)", branch.variety.middle(), -1e-6, 1e-3);
  claim("variety, norm(f(x))", normed.variety.middle(), -1e-6, 1e-4);
  claim("variety, post", post.variety.middle(), 0, 0.05);
  claim("variety, pre", pre.variety.middle(), 0.03, 1);

  part("");  // answers nothing: shown in any case
  std::printf("five seeds, 200 steps\n");
  constexpr double rate = 0.003;
  const Run of_pre = train(Form::pre, 0, rate), of_post = train(Form::post, 0, rate),
            warm = train(Form::post, 100, rate), slow = train(Form::post, 0, rate / 3);
  fact("loss of guessing", std::log(double(letters)));
  claim("pre: loss", of_pre.loss.middle(), 1, 1.9);
  claim("pre: most of five losses", of_pre.loss.most, 1, 2.1);
  part("09/g");
  claim("post: loss", of_post.loss.middle(), 2.2, 2.5, "09/g");
  claim("post, warm-up: loss", warm.loss.middle(), 1, 2.2);
  claim("post, a third of the rate: loss", slow.loss.middle(), 1, 2.2);
  claim("post: least of five losses", of_post.loss.least, 2.1, 2.5);
  claim("pre: layer 1 after 50 steps", of_pre.gradient.middle(), 0.1, 10);
  claim("post: layer 1 after 50 steps", of_post.gradient.middle(), 0, 0.05);
  claim("post, warm-up: layer 1", warm.gradient.middle(), 0.1, 10);

  part("");
  std::printf("positions, dropout\n");
  measure_order();
  measure_positions();
  part("09/h");
  measure_dropout();
  write_signals();
  return finish();
}
