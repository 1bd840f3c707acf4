// Shapes: a network that reads drawings. It learns from drawings of letters # and . in a text file,
// by the sigmoid and the products of chapter 03, and the softmax, the loss, Adam and the clipping
// of chapter 04. On a terminal one sees it guess while it learns.
//
// usage: shapes [FILE]          learns your drawings; without FILE those that come with it
//        shapes --write FILE    writes these into a file, as a start for your own
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "drawings.hpp"
#include "facts.hpp"
#include "film.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/nn/module.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/clipping.hpp"

using namespace headroom;

namespace {

constexpr int side = 8, cells = side * side, hidden = 32, batch = 16, steps = 300;

struct Drawing {
  int name = 0;  // in Drawings::names
  std::vector<Real> ink;
};

/// The drawings of a file.
struct Drawings {
  std::vector<std::string> names;
  std::vector<Drawing> learned, asked;
};

[[noreturn]] void wrong(const std::string& file, int line, const std::string& text) {
  throw std::runtime_error(file + ":" + std::to_string(line) + ": " + text);
}

/// The letters of a line of a drawing as numbers.
std::vector<Real> row_of(const std::string& line, const std::string& file, int number) {
  if (line.size() != side || line.find_first_not_of("#.") != std::string::npos) {
    wrong(file, number, "a drawing has 8 lines of 8 letters, # and . only");
  }
  std::vector<Real> row;
  for (const char letter : line) row.push_back(letter == '#' ? 1 : 0);
  return row;
}

Drawings read(std::istream& text, const std::string& file) {
  Drawings all;
  std::string line;
  int number = 0;
  const auto next = [&] {
    ++number;
    const bool found = bool(std::getline(text, line));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    return found;
  };
  while (next()) {
    if (line.empty() || line.starts_with("# ")) continue;
    if (line.find_first_not_of("#.") == std::string::npos) {
      wrong(file, number, "a drawing needs a name in the line above it, and has 8 lines");
    }
    std::string name = line;
    const bool asked = name.back() == '?';
    if (asked) name.pop_back();
    if (name.empty() || name.size() > side) wrong(file, number, "a name has 1 to 8 letters");
    Drawing drawing;
    const auto known = std::find(all.names.begin(), all.names.end(), name);
    drawing.name = int(known - all.names.begin());
    if (known == all.names.end()) all.names.push_back(name);
    for (int row = 0; row < side; ++row) {
      if (!next()) wrong(file, number, "the file ends inside a drawing, which has 8 lines");
      const std::vector<Real> ink = row_of(line, file, number);
      drawing.ink.insert(drawing.ink.end(), ink.begin(), ink.end());
    }
    (asked ? all.asked : all.learned).push_back(std::move(drawing));
  }
  for (std::size_t name = 0; name < all.names.size(); ++name) {
    if (std::none_of(all.learned.begin(), all.learned.end(),
                     [&](const Drawing& drawing) { return drawing.name == int(name); })) {
      wrong(file, number,
            "there is no drawing of \"" + all.names[name] +
                "\" to learn from: give one without the question mark");
    }
  }
  if (all.names.size() < 2) wrong(file, number, "draw at least two different shapes");
  return all;
}

/// The same drawing by a less steady hand: moved by a cell, and each cell is wrong with this
/// chance.
std::vector<Real> shaken(const std::vector<Real>& ink, double chance, Rng& rng) {
  const int right = int(rng.below(3)) - 1, down = int(rng.below(3)) - 1;
  std::vector<Real> result(cells, 0);
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) {
      const int y = row - down, x = column - right;
      const bool inside = x >= 0 && x < side && y >= 0 && y < side;
      Real cell = inside ? ink[std::size_t(y * side + x)] : 0;
      if (double(rng.uniform()) < chance) cell = 1 - cell;
      result[std::size_t(row * side + column)] = cell;
    }
  }
  return result;
}

/// sigmoid(x A + a) B + b: 64 cells, 32 numbers, a logit for each name. Written with matmul,
/// because the library's Linear has a product of its own.
class Reader : public Module {
 public:
  Reader(Index names, Rng& rng)
      : first_(weights({cells, hidden}, rng)),
        first_bias_(parameter(zeros({hidden}))),
        second_(weights({hidden, names}, rng)),
        second_bias_(parameter(zeros({names}))) {}
  Tensor operator()(const Tensor& x) const {
    return matmul(sigmoid(matmul(x, first_) + first_bias_), second_) + second_bias_;
  }
  void members(Members& visit) override {
    visit("first", first_);
    visit("first_bias", first_bias_);
    visit("second", second_);
    visit("second_bias", second_bias_);
  }
  std::string title() const override { return "Reader"; }

 private:
  static Tensor weights(const Shape& shape, Rng& rng) {
    return parameter(xavier_uniform(shape, shape[0], shape[1], rng));
  }
  Tensor first_, first_bias_, second_, second_bias_;
};

Tensor rows_of(const std::vector<std::vector<Real>>& drawings) {
  std::vector<Real> numbers;
  for (const auto& ink : drawings) numbers.insert(numbers.end(), ink.begin(), ink.end());
  return constant(Array({Index(drawings.size()), cells}, std::move(numbers)));
}

/// A name, and the share that softmax gives it.
struct Guess {
  int name = 0;
  double share = 0;
};

std::vector<Guess> guesses(const Reader& reader, const std::vector<std::vector<Real>>& drawings) {
  const NoGrad quiet;
  const Array shares = softmax(reader(rows_of(drawings))).value();
  const Index names = shares.dim(1);
  std::vector<Guess> result;
  for (Index row = 0; row < shares.dim(0); ++row) {
    const Real* begin = shares.data() + row * names;
    const Real* best = std::max_element(begin, begin + names);
    result.push_back({int(best - begin), double(*best)});
  }
  return result;
}

struct Score {
  double shaken = 0;  // per cent of drawings by a less steady hand, which nobody trained on
  double asked = 0;   // and of those with a question mark
};

/// A reader of these drawings and its training.
class Lesson {
 public:
  Lesson(const Drawings& all, std::uint64_t seed)
      : all_(all),
        start_(seed, "reader"),
        hand_(seed, "hand"),
        reader_(Index(all.names.size()), start_),
        adam_(reader_) {
    Rng other(1, "test");
    for (int i = 0; i < 200; ++i) test_.push_back(drawn(other, test_names_));
  }
  void learn_once() {
    std::vector<int> names;
    std::vector<std::vector<Real>> drawings;
    for (int i = 0; i < batch; ++i) drawings.push_back(drawn(hand_, names));
    Ids wanted({batch});
    for (Index i = 0; i < batch; ++i) wanted[i] = std::int32_t(names[std::size_t(i)]);
    adam_.zero_grad();
    cross_entropy(reader_(rows_of(drawings)), wanted).backward();
    clip_grad_norm(reader_, 1);
    adam_.step(0.01);
  }
  Score score() const {
    const std::vector<Guess> found = guesses(reader_, test_);
    int right = 0, of_asked = 0;
    for (std::size_t i = 0; i < found.size(); ++i) right += found[i].name == test_names_[i] ? 1 : 0;
    const std::vector<Guess> own = asked();
    for (std::size_t i = 0; i < own.size(); ++i) {
      of_asked += own[i].name == all_.asked[i].name ? 1 : 0;
    }
    return {100.0 * right / double(found.size()),
            own.empty() ? 0 : 100.0 * of_asked / double(own.size())};
  }
  /// Classifies the drawings with a question mark.
  std::vector<Guess> asked() const {
    std::vector<std::vector<Real>> drawings;
    for (const Drawing& drawing : all_.asked) drawings.push_back(drawing.ink);
    return drawings.empty() ? std::vector<Guess>{} : guesses(reader_, drawings);
  }

 private:
  std::vector<Real> drawn(Rng& rng, std::vector<int>& names) const {
    const Drawing& drawing = all_.learned[std::size_t(rng.below(Index(all_.learned.size())))];
    names.push_back(drawing.name);
    return shaken(drawing.ink, 0.05, rng);
  }

  const Drawings& all_;
  Rng start_, hand_;
  Reader reader_;
  Adam adam_;
  std::vector<int> test_names_;
  std::vector<std::vector<Real>> test_;
};

std::size_t drawings_in_a_row(const TerminalStyle& style) {
  return std::size_t(std::clamp((style.columns + 3) / (side + 3), 1, 7));
}

/// The drawings that are asked for, side by side, and below each the present guess.
std::string picture(const Drawings& all, const Lesson& lesson, int step,
                    const TerminalStyle& style) {
  char line[96];
  std::snprintf(line, sizeof line, "step %-4d %3.0f %% of 200 shaken drawings are right\n\n", step,
                lesson.score().shaken);
  std::string text = line;
  const std::vector<Guess> found = lesson.asked();
  const bool blocks = style.live && style.unicode;
  const std::size_t across = drawings_in_a_row(style);
  for (std::size_t begin = 0; begin < found.size(); begin += across) {
    const std::size_t end = std::min(found.size(), begin + across);
    for (int row = 0; row < side; ++row) {
      for (std::size_t i = begin; i < end; ++i) {
        for (int column = 0; column < side; ++column) {
          const bool ink = all.asked[i].ink[std::size_t(row * side + column)] > 0;
          text += ink ? (blocks ? "█" : "#") : ".";
        }
        text += i + 1 < end ? "   " : "\n";
      }
    }
    std::string shares;
    for (std::size_t i = begin; i < end; ++i) {
      const bool right = found[i].name == all.asked[i].name;
      std::snprintf(line, sizeof line, "%-8s", all.names[std::size_t(found[i].name)].c_str());
      text += emphasised(line, right ? Emphasis::good : Emphasis::bad, style);
      std::snprintf(line, sizeof line, "%3.0f %% %s", 100 * found[i].share, right ? "  " : "no");
      shares += line;
      for (std::string* const now : {&text, &shares}) *now += i + 1 < end ? "   " : "";
    }
    text += "\n" + shares + "\n\n";
  }
  return text;
}

Drawings drawings_of(const std::string& file) {
  if (file.empty()) {
    std::istringstream text(drawings);
    return read(text, "drawings.hpp");
  }
  std::ifstream text(file);
  if (!text) throw std::runtime_error(file + ": cannot be read; --write " + file + " begins one");
  return read(text, file);
}

int write(const std::string& file) {
  if (std::ifstream(file)) throw std::runtime_error(file + ": exists; give another name");
  std::ofstream out(file);
  out << drawings;
  if (!out.flush()) throw std::runtime_error(file + ": cannot be written");
  std::printf("%s: draw your own shapes in it, and give the file to shapes\n", file.c_str());
  return 0;
}

int run(const std::string& file) {
  const Drawings all = drawings_of(file);
  std::printf("%d sigmoids learn %d drawings of %d shapes, and are asked for %d others.\n", hidden,
              int(all.learned.size()), int(all.names.size()), int(all.asked.size()));
  Lesson lesson(all, 1);
  const std::size_t across = drawings_in_a_row(TerminalStyle::of(stdout));
  Film film(2 + int((all.asked.size() + across - 1) / across) * (side + 3));
  for (int step = 0; step <= steps; ++step) {
    if (film.shows(step, steps, 4)) film.show(picture(all, lesson, step, film.style()));
    if (step < steps) lesson.learn_once();
  }
  if (!file.empty()) {  // one's own drawings may be hard
    fact("shaken drawings, per cent right", lesson.score().shaken);
    if (!all.asked.empty()) fact("asked drawings, per cent right", lesson.score().asked);
    return finish();
  }
  double worst = 100, asked = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Lesson other(all, seed);
    for (int step = 0; step < steps; ++step) other.learn_once();
    worst = std::min(worst, other.score().shaken);
    asked += other.score().asked / 5;
  }
  claim("shaken, worst of 5 networks", worst, 85, 100);
  claim("asked, mean of 5 networks", asked, 80, 100);
  return finish();
}

}  // namespace

int main(int argc, char** argv) {
  set_num_threads(1);  // the network is small
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 2 && words[0] == "--write") return write(words[1]);
    if (words.size() > 1 || (!words.empty() && words[0].starts_with("-"))) {
      throw std::runtime_error("usage: shapes [FILE], or shapes --write FILE");
    }
    return run(words.empty() ? "" : words[0]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
