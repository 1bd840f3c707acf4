// Task brackets: is a sequence of brackets balanced?
#include <string>

#include "data/unique_draws.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/data/embedded_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr std::string_view openings = "([{", closings = ")]}", all = "()[]{}";

// A random walk over depths that ends at depth 0.
std::string balanced_brackets(Rng& rng, std::size_t length) {
  std::string text, open;  // open: the closing brackets that are still missing, innermost last
  while (text.size() < length) {
    const bool must_close = open.size() == length - text.size();
    if (open.empty() || (!must_close && rng.below(2) == 0)) {
      const auto kind = static_cast<std::size_t>(rng.below(3));
      text += openings[kind];
      open += closings[kind];
    } else {
      text += open.back();
      open.pop_back();
    }
  }
  return text;
}

}  // namespace

bool is_balanced(std::string_view brackets) {
  std::string open;
  for (const char c : brackets) {
    const std::size_t kind = openings.find(c);
    if (kind != std::string_view::npos) {
      open += closings[kind];
    } else if (open.empty() || open.back() != c) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}

namespace {

// Exchanges two brackets (correct counts, wrong order) or replaces one by another, until the text
// is no longer balanced.
std::string unbalanced_brackets(Rng& rng, std::size_t length) {
  const std::string balanced = balanced_brackets(rng, length);
  std::string text = balanced;
  const auto place = [&] { return static_cast<std::size_t>(rng.below(Index(length))); };
  while (is_balanced(text)) {
    text = balanced;
    if (rng.below(2) == 0) {
      std::swap(text[place()], text[place()]);
    } else {
      text[place()] = at(all, rng.below(6));
    }
  }
  return text;
}

}  // namespace

ClassificationTask make_brackets_task(const TaskOptions& options) {
  const SetSizes sizes = sizes_of(options, {10'000, 500, 1'000});
  Rng rng(options.seed, "brackets");
  const auto examples =
      unique_draws("brackets", sizes.train + sizes.validation + sizes.test, [&](Index i) {
        const auto length = static_cast<std::size_t>(8 + 2 * rng.below(9));
        const auto label = static_cast<std::int32_t>(i % 2);
        return std::pair(
            label == 1 ? balanced_brackets(rng, length) : unbalanced_brackets(rng, length), label);
      });
  ClassificationTask task{.name = "brackets",
                          .tokens = Vocabulary::of_text(TokenKind::characters, Specials::all, all),
                          .classes = {"unbalanced", "balanced"},
                          .train = {},
                          .validation = {},
                          .test = {}};
  for (Index i = 0; i < std::ssize(examples); ++i) {
    const auto& [text, label] = at(examples, i);
    auto& set = i < sizes.train                      ? task.train
                : i < sizes.train + sizes.validation ? task.validation
                                                     : task.test;
    set.push_back({task.tokens.encode(text), label});
  }
  return task;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
