// First light: the film and the numbers of chapter 00. A model that is one attention head learns to
// write words backwards. On a terminal its map is drawn again and again while it learns.
//
// usage: first_light [WORD [SCALE]]
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "facts.hpp"
#include "figure.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/nn/layers.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/adam.hpp"

using namespace headroom;

namespace {

constexpr Index letters = 27, length = 8, width = 64, batch = 16;
constexpr int steps = 500;
const std::string alphabet = "abcdefghijklmnopqrstuvwxyz.";

/// Letters and positions, one attention head, and a Linear that names a letter.
class OneHead : public Module {
 public:
  OneHead(Rng& rng, Real scale)
      : letter(letters, width, rng, std::sqrt(Real(0.5))),
        position(length, width, rng, std::sqrt(Real(0.5))),
        query(width, width, rng),
        key(width, width, rng),
        value(width, width, rng),
        output(width, letters, rng) {
    options.scale = scale;
  }
  Tensor operator()(const Ids& words) const {
    const Tensor x = embedded(words);
    return output(attention({query(x), 0}, {key(x), 0}, {value(x), 0}, 1, width, width, options));
  }
  /// The weights of each query, [B, length, length].
  Array map(const Ids& words) const {
    const NoGrad quiet;
    const Tensor x = embedded(words);
    const HeadColumns q{query(x), 0}, k{key(x), 0}, v{value(x), 0};
    const Array maps = composed::attention(q, k, v, 1, width, width, options).maps.value();
    return maps.reshaped({words.dim(0), length, length});
  }
  void members(Members& visit) override {
    visit("letter", letter);
    visit("position", position);
    visit("query", query);
    visit("key", key);
    visit("value", value);
    visit("output", output);
  }
  std::string title() const override { return "OneHead"; }

  Embedding letter, position;
  Linear query, key, value, output;
  AttentionOptions options;
  Real positions = 1;  // 0: without positions

 private:
  Tensor embedded(const Ids& words) const { return letter(words) + position.weight * positions; }
};

Ids random_words(Index count, Rng& rng) {
  Ids words({count, length});
  for (Index i = 0; i < words.size(); ++i) words[i] = std::int32_t(rng.below(letters));
  return words;
}

Ids backwards(const Ids& words) {
  Ids result(words.shape());
  for (Index i = 0; i < words.size(); ++i) {
    result[i] = words[i / length * length + length - 1 - i % length];
  }
  return result;
}

/// Cut or filled with dots to `length` letters.
Ids word_of(std::string text) {
  text.resize(std::size_t(length), '.');
  Ids word({1, length});
  for (Index i = 0; i < length; ++i) {
    const std::size_t found = alphabet.find(char(std::tolower(text[std::size_t(i)])));
    word[i] = std::int32_t(std::min(found, alphabet.size() - 1));
  }
  return word;
}

/// A model and its training.
struct Learner {
  explicit Learner(std::uint64_t seed, Real scale = 0)
      : start(seed, "weights"), data(seed, "words"), model(start, scale), adam(model) {}

  void learn(int count = 1) {
    for (int step = 0; step < count; ++step) learn_once();
  }
  void learn_once() {
    const Ids words = random_words(batch, data);
    adam.zero_grad();
    cross_entropy(model(words), backwards(words)).backward();
    adam.step(0.0003);
  }
  /// The letters that the model writes.
  Ids written(const Ids& words) const {
    const NoGrad quiet;
    const Array logits = model(words).value();
    Ids result(words.shape());
    for (Index i = 0; i < words.size(); ++i) {
      const Real* row = logits.data() + i * letters;
      result[i] = std::int32_t(std::max_element(row, row + letters) - row);
    }
    return result;
  }
  /// Per cent of the letters that are right, in words that nobody trained on.
  double right() const {
    Rng rng(1, "test");
    const Ids words = random_words(100, rng), wanted = backwards(words), own = written(words);
    Index count = 0;
    for (Index i = 0; i < words.size(); ++i) count += own[i] == wanted[i] ? 1 : 0;
    return 100 * double(count) / double(words.size());
  }

  Rng start, data;
  OneHead model;
  Adam adam;
};

// ---------------------------------------------------------------- the film

std::string frame(const Learner& learner, int step, const Ids& word, const TerminalStyle& style) {
  const bool blocks = style.live && style.unicode;
  const auto name = [](std::int32_t id) { return alphabet[std::size_t(id)]; };
  char title[80];
  std::snprintf(title, sizeof title, "step %-4d  %3.0f %% of all letters are right\n", step,
                learner.right());
  std::string text = std::string(title) + "   ";
  const Array map = learner.model.map(word);
  const Ids own = learner.written(word);
  for (Index j = 0; j < length; ++j) text += std::string(" ") + name(word[j]);
  text += "   written\n";
  for (Index i = 0; i < length; ++i) {
    text += std::string(1, name(word[i])) + " |";
    for (Index j = 0; j < length; ++j) {
      const Real weight = map[i * length + j];
      text += weight >= 0.6   ? (blocks ? " █" : " #")
              : weight >= 0.3 ? (blocks ? " ▒" : " +")
              : weight >= 0.1 ? (blocks ? " ░" : " -")
                              : " .";
    }
    text += std::string(" | ") + name(own[i]) + "\n";
  }
  return text;
}

/// Trains a model and shows its map: in one place on a terminal, else a few pictures below each
/// other.
void film(const Ids& word, Real scale) {
  const TerminalStyle style = TerminalStyle::of(stdout);
  std::printf("a row for each letter written: its weights on the letters read\n");
  std::printf("%s 0.6 or more, %s 0.3, %s 0.1, . less\n", style.live && style.unicode ? "█" : "#",
              style.live && style.unicode ? "▒" : "+", style.live && style.unicode ? "░" : "-");
  Learner learner(1, scale);
  for (int step = 0; step <= steps; ++step) {
    if (style.live ? step % 10 == 0 : step == 0 || step == 100 || step == steps) {
      if (style.live && step > 0) std::printf("\x1b[%dA", int(length) + 2);
      std::printf("%s", frame(learner, step, word, style).c_str());
      std::fflush(stdout);
      if (style.live) std::this_thread::sleep_for(std::chrono::milliseconds(60));
    }
    learner.learn();
  }
}

// ---------------------------------------------------------------- the numbers

/// The mean weight from each position to its mirror image.
double on_antidiagonal(const Array& map) {
  double sum = 0;
  for (Index i = 0; i < length; ++i) sum += double(map[i * length + length - 1 - i]);
  return sum / double(length);
}

/// The number of the largest weight in a row of a map.
Index brightest(const Array& map, Index row) {
  const Real* weights = map.data() + row * length;
  return std::max_element(weights, weights + length) - weights;
}

/// The share of the weight that is on other letters in the second map.
double weight_that_moves(const Array& before, const Array& after) {
  double sum = 0;
  for (Index i = 0; i < before.size(); ++i) sum += std::abs(double(before[i] - after[i])) / 2;
  return sum / double(length);
}

/// The mean of the largest weight of each row, over many words.
double decided(const OneHead& model) {
  Rng rng(2, "test");
  const Array maps = model.map(random_words(100, rng));
  double sum = 0;
  for (Index i = 0; i < maps.size(); i += length) {
    sum += double(*std::max_element(maps.data() + i, maps.data() + i + length));
  }
  return sum * double(length) / double(maps.size());
}

double least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}
double most(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

/// The standard deviation of dot products of random vectors with elements of deviation 1.
double size_of_scores(Index features) {
  Rng rng(1, "scores");
  const Array q = normal({200, features}, 1, rng), k = normal({200, features}, 1, rng);
  const NoGrad quiet;
  const Array scores = matmul(Tensor(q), transpose(Tensor(k))).value();
  double squares = 0;
  for (const Real score : scores.span()) squares += double(score) * double(score);
  return std::sqrt(squares / double(scores.size()));
}

void measure_map() {
  fact("width", double(width));
  std::vector<double> right, before, after, moved, blind;
  Index bright = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Learner learner(seed), without(seed);
    const Ids word = word_of("headroom"), other = word_of("sunlight");
    before.push_back(on_antidiagonal(learner.model.map(word)));
    learner.learn(steps);
    right.push_back(learner.right());
    const Array map = learner.model.map(word);
    after.push_back(on_antidiagonal(map));
    for (Index i = 0; i < length; ++i) bright += brightest(map, i) == length - 1 - i ? 1 : 0;
    if (seed == 1) {
      claim("brightest letter of row 0", double(brightest(map, 0)), length - 1, length - 1, "00/a");
    }
    moved.push_back(weight_that_moves(map, learner.model.map(other)));
    without.model.positions = 0;
    without.learn(steps);
    blind.push_back(without.right());
  }
  claim("letters right, worst of 5 seeds", least(right), 99, 100);
  claim("anti-diagonal, before, most", most(before), 0, 0.3);
  claim("anti-diagonal, after, least", least(after), 0.95, 1);
  claim("brightest on it, of 40 rows", double(bright), 5 * length, 5 * length);
  part("00/b");
  claim("weight that another word moves", most(moved), 1e-6, 0.05, "00/b");
  claim("letters right, no positions", most(blind), 5, 40);
}

/// Five trainings with a factor of the scores.
struct Runs {
  explicit Runs(Real scale) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Learner learner(seed, scale);
      start.push_back(decided(learner.model));
      learner.learn(200);
      right.push_back(learner.right());
      learner.learn(steps - 200);
      end.push_back(learner.right());
    }
  }
  std::vector<double> start, right, end;  // before, after 200 steps, after all of them
};

void measure_scale() {
  part("00/c");
  claim("size of a score, D = 4", size_of_scores(4), 1.9, 2.1);
  claim("size of a score, D = 16", size_of_scores(16), 3.8, 4.2);
  claim("size of a score, D = 64", size_of_scores(64), 7.7, 8.3, "00/c");
  claim("size of a score, D = 256", size_of_scores(256), 15.5, 16.5);
  part("00/d");
  const Runs scaled(0), plain(1), divided(1 / Real(width));
  claim("largest weight, scaled", most(scaled.start), 0.2, 0.5);
  claim("largest weight, not scaled", least(plain.start), 0.7, 1, "00/d");
  claim("largest weight, divided by D", most(divided.start), 0.125, 0.2);
  claim("200 steps, scaled, worst", least(scaled.right), 90, 100);
  claim("200 steps, not scaled, worst", least(plain.right), 5, 60);
  claim("200 steps, not scaled, best", most(plain.right), 30, 95);
  claim("200 steps, divided by D, best", most(divided.right), 30, 90);
  claim("500 steps, worst of all",
        std::min({least(scaled.end), least(plain.end), least(divided.end)}), 97, 100);
}

// ---------------------------------------------------------------- the figure

/// The film as a record: the maps of two words by the same model, at steps that lie closer in the
/// beginning, where the map changes most.
void write_film() {
  if (!figure_wanted()) return;
  Record frames = Record::array();
  Learner learner(1);
  for (int step = 0; step <= steps; ++step) {
    if (step % (step < 200 ? 10 : 50) == 0) {
      Record frame{{"step", step}, {"right", learner.right()}, {"words", Record::array()}};
      for (const char* text : {"headroom", "sunlight"}) {
        const Ids word = word_of(text), own = learner.written(word);
        Record weights = Record::array();
        for (const Real weight : learner.model.map(word).span()) {
          weights.push_back(std::round(double(weight) * 1000) / 1000);
        }
        std::string written;
        for (Index i = 0; i < length; ++i) written += alphabet[std::size_t(own[i])];
        frame["words"].push_back({{"read", text}, {"written", written}, {"weights", weights}});
      }
      frames.push_back(frame);
    }
    learner.learn();
  }
  write_figure({{"frames", frames}});
}

}  // namespace

int main(int argc, char** argv) {
  set_num_threads(1);  // the model is small
  part("00/a");
  film(word_of(argc > 1 ? argv[1] : "headroom"), argc > 2 ? Real(std::atof(argv[2])) : 0);
  measure_map();
  measure_scale();
  write_film();
  return finish();
}
