// Which half of the heads can go? Chapter 13's last question, which has no answer yet: models with
// 12 heads learn to read dates, the reader removes six heads of each, and training goes on. Beside
// them go six heads chosen at random, by their cost, by Shapley values, one after another, and the
// best half of all 924, which is known only afterwards.
//
// usage: half_of_the_heads [--remove e0,e1,...] [--seeds 1,2,3] [--page FILE]
//
// --remove is given once for all models, or once for each. Without it, the reader is asked in a
// terminal; elsewhere only the others choose.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "facts.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/surgery/regrowth.hpp"
#include "headroom_lab/blocks/table.hpp"
#include "headroom_lab/report/half.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "headroom_measure/importance/shapley.hpp"
#include "headroom_runs/runs/training_run.hpp"
#include "small_run.hpp"

using namespace headroom;

namespace {

constexpr Index cut_step = 650, steps = 900;  // the rest is for recovery
constexpr Index shown_examples = 64;          // of the importance set: what a choice may look at
constexpr Index judging_examples = 64;        // of the selection set: what it is judged by
constexpr Index half = 6, random_draws = 2;

using Heads = std::vector<HeadId>;

/// "e0", "d3", "c1": encoder, decoder, cross-attention.
std::string short_name(const HeadId& head) {
  return name_of(head.kind)[0] + std::to_string(head.head);
}

std::string short_names(const Heads& heads) {
  std::string text;
  for (const HeadId& head : heads) text += (text.empty() ? "" : ",") + short_name(head);
  return text;
}

/// Six different heads of such names. Throws UsageError saying what is wrong.
Heads six_of(const std::string& text, const Heads& all) {
  Heads heads;
  std::string word;
  for (const char letter : text + ",") {
    if (letter != ',' && letter != ' ') {
      word += letter;
      continue;
    }
    if (word.empty()) continue;
    const auto known = std::find_if(all.begin(), all.end(), [&](const HeadId& head) {
      return short_name(head) == word ||
             fmt::format("{}0.{}", name_of(head.kind)[0], head.head) == word;
    });
    if (known == all.end()) {
      throw UsageError(
          fmt::format("\"{}\" is not a head; the heads are {}", word, short_names(all)));
    }
    if (std::find(heads.begin(), heads.end(), *known) != heads.end()) {
      throw UsageError(fmt::format("{} is named twice", word));
    }
    heads.push_back(*known);
    word.clear();
  }
  if (Index(heads.size()) != half) {
    throw UsageError(fmt::format("name {} heads, not {}: e0,e1,d0,...", half, heads.size()));
  }
  return heads;
}

/// A model at the moment of the removal, and the losses of all halves.
class Model {
 public:
  Model(Index seed, const std::filesystem::path& folder)
      : settings_(small_run(std::uint64_t(seed), steps)),
        task_(make_task("dates", settings_.data)),
        saved_(folder / (std::to_string(seed) + ".safetensors")) {
    settings_.learner.quick = 250;
    TrainingRun run(settings_, task_);
    while (run.steps() < cut_step) run.step();
    run.save(saved_);
    heads_ = live_heads(run.model());
    HeadGame shown(run.learner(), ExampleSet::importance, shown_examples);
    const Index n = shown.size();
    const std::vector<double> values = all_values(shown), shapley = exact_shapley(values, n);
    const ImportanceTable table =
        measure_importance(run.learner(), {"sensitivity"}, {.examples = shown_examples});
    record.seed = seed;
    for (Index h = 0; h < n; ++h) {
      const auto i = std::size_t(h);
      record.heads.push_back({short_name(heads_[i]),
                              shown.value(shown.all().without(h)) - shown.value(shown.all()),
                              table.columns[0].scores[i], shapley[i]});
    }
    for (const char* name : {"greedy", "leave_one_out"}) {
      chosen_.emplace_back(name == std::string("greedy") ? "greedy" : "cost alone",
                           head_chooser(name).make({.seed = 1})(shown, half, free_budget));
    }
    chosen_.emplace_back("Shapley values", least_valued(shapley));
    judge(run.learner());
    for (Index draw = 1; draw <= random_draws; ++draw) {
      const ChooserOptions options{.seed = std::uint64_t(draw)};
      random_.push_back(head_chooser("random").make(options)(shown, half, free_budget));
    }
  }

  const Heads& heads() const { return heads_; }
  /// Of the six removed heads: the loss right after, and its rank among all halves, from 1.
  std::pair<double, Index> judged(const Heads& removed) const {
    const double loss = losses_by_set_.at(bits_without(removed));
    const auto above = std::lower_bound(record.losses.begin(), record.losses.end(), loss);
    return {loss, above - record.losses.begin() + 1};
  }
  /// Lets all choices recover, the reader's first, and fills the record's choices.
  void follow(const std::optional<Heads>& yours) {
    record.choices.push_back({.by = "no removal", .after = record.whole});
    recover(record.choices.back(), {});
    if (yours) add("you", *yours);
    for (const auto& [name, removed] : chosen_) add(name, removed);
    add("best of all", best_);
    HalfChoice random{.by = "random (mean)", .after = mean_loss(), .rank = 0};
    random.rank = double(record.losses.size() + 1) / 2;
    for (const Heads& removed : random_) {
      HalfChoice draw;
      recover(draw, removed);
      random.recovered += draw.recovered / double(random_draws);
      random.exact += draw.exact / double(random_draws);
    }
    record.choices.push_back(random);
  }

  HalfModel record;

 private:
  static inline const Budget free_budget{.at_least_of_kind = 0};

  /// The loss without each half of the heads, on examples that no choice has looked at.
  void judge(Learner& learner) {
    HeadGame game(learner, ExampleSet::selection, judging_examples);
    record.whole = game.value(game.all());
    std::vector<HeadSet> halves;
    for (std::uint64_t bits = 0; bits < (1U << game.size()); ++bits) {
      if (__builtin_popcountll(bits) == game.size() - half)
        halves.push_back(HeadSet::of_bits(bits));
    }
    const std::vector<double> losses = game.values(halves);
    for (std::size_t i = 0; i < halves.size(); ++i) {
      losses_by_set_[halves[i].bits()] = losses[i];
    }
    const auto best = std::size_t(std::min_element(losses.begin(), losses.end()) - losses.begin());
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      if (!halves[best].contains(Index(h))) best_.push_back(heads_[h]);
    }
    record.losses = losses;
    std::sort(record.losses.begin(), record.losses.end());
  }
  std::uint64_t bits_without(const Heads& removed) const {
    HeadSet left = HeadSet::all(Index(heads_.size()));
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      if (std::find(removed.begin(), removed.end(), heads_[h]) != removed.end()) {
        left = left.without(Index(h));
      }
    }
    return left.bits();
  }
  Heads least_valued(const std::vector<double>& values) const {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    Heads heads;
    for (Index i = 0; i < half; ++i) heads.push_back(heads_[order[std::size_t(i)]]);
    return heads;
  }
  double mean_loss() const {
    return std::accumulate(record.losses.begin(), record.losses.end(), 0.0) /
           double(record.losses.size());
  }
  void add(const std::string& by, const Heads& removed) {
    const auto [loss, rank] = judged(removed);
    record.choices.push_back(
        {.by = by, .removed = short_names(removed), .after = loss, .rank = double(rank)});
    recover(record.choices.back(), removed);
  }
  /// Removes the heads from a copy, trains it to the end, and measures it on the same examples.
  void recover(HalfChoice& choice, const Heads& removed) const {
    TrainingRun run(settings_, task_);
    run.begin_with(saved_, false);
    cut(run.optimizer(), removed);
    while (run.steps() < steps) run.step();
    HeadGame game(run.learner(), ExampleSet::selection, judging_examples);
    choice.recovered = game.value(game.all());
    choice.exact = run.learner().evaluate().at("exact_match").get<double>();
  }

  TrainingSettings settings_;
  Task task_;
  std::filesystem::path saved_;
  Heads heads_, best_;
  std::map<std::uint64_t, double> losses_by_set_;  // by the heads that are left
  std::vector<std::pair<std::string, Heads>> chosen_;
  std::vector<Heads> random_;
};

// ---------------------------------------------------------------- the terminal

void draw_heads(const HalfModel& model) {
  Table table{.columns = {"head", "cost alone", "sensitivity", "Shapley value"}};
  for (const HalfHead& head : model.heads) {
    table.rows.push_back({head.name, fmt::format("{:.3f}", head.cost),
                          fmt::format("{:.3f}", head.sensitivity),
                          fmt::format("{:.2f}", head.shapley)});
  }
  fmt::print("\nModel {}: loss {:.2f} with all heads\n{}", model.seed, model.whole,
             table_text(table, TerminalStyle::of(stdout), 2));
}

/// The reader's six heads; nothing if the line is empty.
std::optional<Heads> asked(const Model& model) {
  while (true) {
    fmt::print("Which six go? (e0 e1 d0 ..., Enter: none): ");
    std::fflush(stdout);
    std::string line;
    if (!std::getline(std::cin, line)) fmt::print("\n");
    if (line.find_first_not_of(" \t\r") == std::string::npos) return std::nullopt;
    line.erase(line.find_last_not_of(" \t\r") + 1);
    try {
      return six_of(line, model.heads());
    } catch (const UsageError& error) {
      fmt::print("{}\n", error.what());
    }
  }
}

void draw_choices(const std::vector<HalfChoice>& choices) {
  Table table{.columns = {"heads chosen by", "loss at once", "rank of 924", "loss later", "right"}};
  for (const HalfChoice& choice : choices) {
    table.rows.push_back({choice.by, fmt::format("{:.2f}", choice.after),
                          choice.rank ? fmt::format("{:.0f}", *choice.rank) : "-",
                          fmt::format("{:.3f}", choice.recovered),
                          fmt::format("{:.0f} %", 100 * choice.exact)});
  }
  fmt::print("\n{}", table_text(table, TerminalStyle::of(stdout)));
}

struct Options {
  std::vector<std::string> remove;
  std::vector<Index> seeds = {1, 2, 3};
  std::string page;
};

std::vector<Index> seeds_of(const std::string& text) {
  std::vector<Index> seeds;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    Index seed = 0;
    const char* const last = text.data() + end;
    const auto [stop, error] = std::from_chars(text.data() + begin, last, seed);
    if (error != std::errc() || stop != last || seed < 0 ||
        std::find(seeds.begin(), seeds.end(), seed) != seeds.end()) {
      throw UsageError(fmt::format("--seeds {}: give different numbers, as in 4,5,6", text));
    }
    seeds.push_back(seed);
    begin = end + 1;
  }
  if (seeds.size() < 3 || seeds.size() > 8) {
    throw UsageError("--seeds: give 3 to 8 models; a single one proves nothing");
  }
  return seeds;
}

Options options_of(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const bool value = i + 1 < words.size();
    if (words[i] == "--remove" && value) {
      options.remove.push_back(words[i + 1]);
    } else if (words[i] == "--seeds" && value) {
      options.seeds = seeds_of(words[i + 1]);
    } else if (words[i] == "--page" && value) {
      options.page = words[i + 1];
    } else {
      throw UsageError(fmt::format(
          "\"{}\"{}; usage: half_of_the_heads [--remove e0,e1,...] [--seeds 1,2,3] [--page FILE]",
          words[i], words[i].starts_with("--") ? " is unknown or has no value" : " is unknown"));
    }
  }
  if (options.remove.size() > 1 && options.remove.size() != options.seeds.size()) {
    throw UsageError(fmt::format("--remove must come once, or {} times, once for each model",
                                 options.seeds.size()));
  }
  if (!options.page.empty() && std::filesystem::exists(options.page)) {
    throw UsageError(fmt::format("{}: exists; give --page another name", options.page));
  }
  return options;
}

/// The first free name of a page beside the board.
std::filesystem::path page_beside(const std::filesystem::path& board) {
  for (Index number = 1;; ++number) {
    const std::filesystem::path page = board.parent_path() / fmt::format("half-{}.html", number);
    if (!std::filesystem::exists(page)) return page;
  }
}

/// Writes the page and adds the answer to the board, where they are asked for.
void keep(const HalfRecord& record, const std::string& page) {
  const char* const board = std::getenv("HEADROOM_BOARD");
  if (page.empty() && board == nullptr) return;
  const std::filesystem::path file =
      page.empty() ? page_beside(board) : std::filesystem::path(page);
  write_file(file, half_page(record));
  fmt::print("\nThe page: {}\n", file.string());
  if (board == nullptr) return;
  add_to_half_board(board, answer_of(record));
  fmt::print("It is on the board: {} learn board\n", invocation());
}

void claim_choices(const std::vector<HalfChoice>& means) {
  for (const HalfChoice& choice : means) {
    if (choice.by == "you") continue;  // may be anything
    claim((choice.by + ": at once").c_str(), choice.after, 0.01, 100);
    claim((choice.by + ": later").c_str(), choice.recovered, 0.001, 20);
    if (choice.rank) claim((choice.by + ": rank").c_str(), *choice.rank, 1, 924);
  }
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[20];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", std::localtime(&now));
  return text;
}

int play(const Options& options) {
  const bool terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  const Index count = std::ssize(options.seeds);
  // A broken board is reported before anything is trained.
  if (const char* const board = std::getenv("HEADROOM_BOARD")) read_half_board(board);
  for (const std::string& text : options.remove) {  // before anything is trained
    Heads all;
    for (const auto kind :
         {AttentionKind::encoder_self, AttentionKind::decoder_self, AttentionKind::cross}) {
      for (Index head = 0; head < 4; ++head) all.push_back({kind, 0, head});
    }
    six_of(text, all);
  }
  fmt::print("{} models with 12 heads learn to read dates; all sets of their heads are measured.\n",
             count);
  std::fflush(stdout);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("headroom-half-{}", getpid());
  std::filesystem::create_directories(folder);
  std::vector<std::unique_ptr<Model>> models{std::size_t(count)};
  parallel_for(count, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto at = std::size_t(i);
      models[at] = std::make_unique<Model>(options.seeds[at], folder);
    }
  });
  std::vector<std::optional<Heads>> yours(models.size());
  bool played = true;
  for (std::size_t i = 0; i < models.size(); ++i) {
    draw_heads(models[i]->record);
    if (!options.remove.empty()) {
      yours[i] = six_of(options.remove[options.remove.size() == 1 ? 0 : i], models[i]->heads());
    } else if (terminal && played) {
      yours[i] = asked(*models[i]);
    }
    played = played && yours[i].has_value();
    if (!yours[i]) continue;
    const auto [loss, rank] = models[i]->judged(*yours[i]);
    fmt::print("Without {}: loss {:.2f} on other examples, rank {} of {}\n", short_names(*yours[i]),
               loss, rank, models[i]->record.losses.size());
  }
  fmt::print("\nTraining goes on for {} steps without them, and without those of the others.\n",
             steps - cut_step);
  std::fflush(stdout);
  parallel_for(count, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto at = std::size_t(i);
      models[at]->follow(played ? yours[at] : std::nullopt);
    }
  });
  std::filesystem::remove_all(folder);
  HalfRecord record{.date = today(), .recovery = steps - cut_step};
  for (const auto& model : models) record.models.push_back(model->record);
  const std::vector<HalfChoice> means = record.means();
  draw_choices(means);
  fmt::print("\nMeans of {} models. A single number proves nothing: try other seeds.\n", count);
  fmt::print("The best half is known only afterwards, from the examples that judge it.\n\n");
  if (played) {
    keep(record, options.page);
  } else {
    claim_choices(means);
  }
  if (!played && !terminal) fmt::print("\nWithout a terminal, choose by --remove e0,e1,...\n");
  return finish();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return play(options_of({argv + 1, argv + argc}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
