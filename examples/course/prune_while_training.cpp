// solutions: 13_4
// Pruning while training: the numbers of chapter 13. Five models with 12 heads learn to read dates.
// From one moment of each, copies go on to the end of training: whole, or after losing heads by
// different choices, at once or step by step; and with new heads in the place of those.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "13_pruning_while_training/4_interval.hpp"
#include "facts.hpp"
#include "figure.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/surgery/regrowth.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "headroom_runs/runs/pruning_parts.hpp"
#include "headroom_runs/runs/training_run.hpp"
#include "small_run.hpp"

using namespace headroom;

namespace {

constexpr Index seeds = 5;
constexpr Index cut_step = 650, steps = 900;  // the rest is for recovery
constexpr Index choice_examples = 100;        // of the importance set
const Gradual gradually{cut_step, cut_step + 120, 12};

struct Quality {
  double exact = 0, loss = 0;  // exact match in %
};

/// On examples of the validation set, from which nothing is chosen.
Quality quality_of(TrainingRun& run) {
  const Record measured = run.learner().evaluate();
  return {100 * measured.at("exact_match").get<double>(),
          measured.at("validation_loss").get<double>()};
}

using Heads = std::vector<HeadId>;

/// How the removed heads come back.
enum class Back { no, fresh, all_zero };

/// How a copy of a model is pruned and trained.
struct Arm {
  std::string name;
  Heads heads = {};     // that are removed
  Index at = cut_step;  // after this step; 0: before the first one
  Back back = Back::no;
  bool in_steps = false;  // 9 heads by greedy, gradually

  bool all_at_once() const { return at > 0 && !in_steps; }
};

struct Outcome {
  Quality at_once, later;
  double largest = 0;  // weight of the heads that came back, at the end
};

/// Brings heads back into a model.
void bring_back(Optimizer& optimizer, const Heads& heads, Back how) {
  std::vector<HeadStash> stashes;
  for (const HeadId& head : heads) {
    stashes.push_back(fresh_head(optimizer.model(), head, 1, cut_step));
    if (how != Back::all_zero) continue;
    for (auto& [part, value] : stashes.back().share.value) value = zeros(value.shape());
  }
  regrow(optimizer, stashes);
}

double largest_weight(const Optimizer& optimizer, const Heads& heads) {
  double largest = 0;
  for (const HeadId& head : heads) {
    const HeadStash now = stash(optimizer, head);
    for (const auto& [part, value] : now.share.value) {
      for (const Real w : value.span()) largest = std::max(largest, std::abs(double(w)));
    }
  }
  return largest;
}

/// A model in training, saved after step cut_step, and the heads that are to leave it.
class Trunk {
 public:
  Trunk(std::uint64_t seed, const std::filesystem::path& folder)
      : settings_(small_run(seed, steps)),
        task_(make_task("dates", settings_.data)),
        saved_(folder / (std::to_string(seed) + ".safetensors")) {
    settings_.learner.quick = 250;
    TrainingRun run(settings_, task_);
    while (run.steps() < cut_step) run.step();
    run.save(saved_);
    const Heads all = live_heads(run.model());
    HeadGame game(run.learner(), ExampleSet::importance, choice_examples);
    const auto chosen = [&](const char* name, Index remove) {
      return head_chooser(name).make({.seed = seed})(game, remove, Budget{});
    };
    const auto only = [&](auto keep) {
      Heads some = all;
      std::erase_if(some, [&](const HeadId& head) { return !keep(head); });
      return some;
    };
    const auto kind = [&](AttentionKind which) {
      return only([=](const HeadId& head) { return head.kind == which; });
    };
    const Heads by_greedy = chosen("greedy", 9), at_random = chosen("random", 9);
    const auto first = [](const Heads& heads) { return Heads(heads.begin(), heads.begin() + 6); };
    // The first head in the order of its cost that belongs to the decoder's look at the source.
    const Heads by_cost = worst_first("leave_one_out")(game, 12, {.at_least_of_kind = 0});
    const auto best = std::find_if(by_cost.begin(), by_cost.end(), [](const HeadId& head) {
      return head.kind == AttentionKind::cross;
    });
    const Heads all_but_best = only([&](const HeadId& head) { return !(head == *best); });
    const Heads all_but_three = only([](const HeadId& head) { return head.head != 0; });
    HeadGame others(run.learner(), ExampleSet::selection, choice_examples);
    const auto loss = [&](const Heads& gone) {
      HeadSet left = others.all();
      for (const HeadId& head : gone) {
        left = left.without(std::find(all.begin(), all.end(), head) - all.begin());
      }
      return others.value(left);
    };
    losses_ = {{"loss, no head gone", loss({})},
               {"loss, 6 at random", loss(first(at_random))},
               {"loss, 6 by cost", loss(chosen("leave_one_out", 6))},
               {"loss, 6 greedy", loss(first(by_greedy))},
               {"loss, 9 at random", loss(at_random)},
               {"loss, 9 by cost", loss(chosen("leave_one_out", 9))},
               {"loss, 9 greedy", loss(by_greedy)}};
    arms_ = {{"none"},
             {"6, at random", first(at_random)},
             {"6, greedy", first(by_greedy)},
             {"9, at random", at_random},
             {"9, greedy", by_greedy},
             {"9, gradually", {}, cut_step, Back::no, true},
             {"9, from the start", all_but_three, 0},
             {"the encoder's", kind(AttentionKind::encoder_self)},
             {"the decoder's own", kind(AttentionKind::decoder_self)},
             {"the cross heads", kind(AttentionKind::cross)},
             {"all but one", all_but_best},
             {"9, fresh ones back", by_greedy, cut_step, Back::fresh},
             {"9, zeros back", by_greedy, cut_step, Back::all_zero}};
  }
  const std::vector<Arm>& arms() const { return arms_; }
  /// Losses right after a removal, on other examples than those of the choice.
  const std::map<std::string, double>& losses() const { return losses_; }

  Outcome follow(const Arm& arm) const {
    TrainingRun run(settings_, task_);
    std::unique_ptr<PruningParts> parts;
    if (arm.in_steps) {
      parts =
          std::make_unique<PruningParts>(run, PruningRecipe{.chooser = "greedy",
                                                            .remove = 9,
                                                            .examples = choice_examples,
                                                            .pace = gradually,
                                                            .rescoring = Rescoring::each_event});
    }
    if (arm.at > 0) run.begin_with(saved_, false);
    cut(run.optimizer(), arm.heads);
    if (arm.back != Back::no) bring_back(run.optimizer(), arm.heads, arm.back);
    Outcome outcome;
    if (arm.all_at_once()) outcome.at_once = quality_of(run);
    // Heads of zeros change nothing, so the model without them has shown the rest.
    const bool zeros_back = arm.back == Back::all_zero;
    while (run.steps() < (zeros_back ? cut_step + 100 : steps)) run.step();
    if (!zeros_back) outcome.later = quality_of(run);
    if (arm.back != Back::no) outcome.largest = largest_weight(run.optimizer(), arm.heads);
    return outcome;
  }

 private:
  TrainingSettings settings_;
  Task task_;
  std::filesystem::path saved_;
  std::vector<Arm> arms_;
  std::map<std::string, double> losses_;
};

using Numbers = std::vector<double>;

/// The outcomes of an arm in all models.
struct Row {
  std::array<Outcome, seeds> outcomes;

  template <class Number>
  Numbers of(Number number) const {
    Numbers numbers;
    for (const Outcome& outcome : outcomes) numbers.push_back(number(outcome));
    return numbers;
  }
  Numbers at_once() const {
    return of([](const Outcome& o) { return o.at_once.exact; });
  }
  Numbers later() const {
    return of([](const Outcome& o) { return o.later.exact; });
  }
};

double mean(const Numbers& numbers) { return mean_interval(numbers).value; }

std::string bar(double percent) { return std::string(std::size_t(std::lround(percent / 10)), '#'); }

/// How many heads are left while 24 of 24 go gradually.
void draw_schedule() {
  const Gradual pace{0, 400, 20};
  std::printf("24 heads go between steps 0 and 400: how many are left\n");
  for (Index step = 0; step <= 400; step += 80) {
    const Index left = 24 - removed_at(pace, 24, step);
    std::printf("step %3d  %2d %s\n", int(step), int(left),
                std::string(std::size_t(left), '#').c_str());
  }
  fact("gone half way", double(removed_at(pace, 24, 200)), "13/d");
}

/// A line for each arm: exact match of five models, right after the removal and at the end.
void draw(const std::vector<Arm>& arms, const std::map<std::string, Row>& rows) {
  std::printf("exact match in %%, mean of five models\n");
  std::printf("%-20s %-18s %-18s\n", "removed heads", "right after", "at the end");
  for (const Arm& arm : arms) {
    if (arm.back == Back::all_zero) continue;  // stays what it was without them
    const Row& row = rows.at(arm.name);
    const double now = mean(row.at_once()), later = mean(row.later());
    if (arm.all_at_once()) {
      std::printf("%-20s %5.1f %-12s", arm.name.c_str(), now, bar(now).c_str());
    } else {
      std::printf("%-20s %5s %-12s", arm.name.c_str(), "-", "");
    }
    std::printf(" %5.1f %s\n", later, bar(later).c_str());
  }
}

/// The mean of five paired differences, and half the width of its interval.
void print_difference(const std::string& name, const Numbers& a, const Numbers& b, double least,
                      double most) {
  const Interval interval = paired_interval(a, b);
  claim(name.c_str(), interval.value, least, most);
  fact("  and half its interval", interval.high - interval.value);
}

/// The facts in the order of the chapter's predictions.
void print(const std::vector<Arm>& arms, const std::map<std::string, Row>& rows,
           const std::map<std::string, double>& losses) {
  const auto now = [&](const char* arm) { return mean(rows.at(arm).at_once()); };
  const auto later = [&](const char* arm) { return mean(rows.at(arm).later()); };
  const auto loss = [&](const char* name, const char* prediction = "") {
    claim(name, losses.at(name), 0, 100, prediction);
  };
  claim("all heads, step 650", now("none"), 40, 100);
  claim("all heads, step 900", later("none"), 60, 100);
  part("13/a");
  claim("6 at random: at once", now("6, at random"), 0, 20, "13/a");
  part("13/b");
  claim("6 at random: later", later("6, at random"), 30, 98, "13/b");
  part("");
  claim("encoder's: at once", now("the encoder's"), 3, 70);
  claim("decoder's own: at once", now("the decoder's own"), 0, 20);
  part("13/c");
  claim("encoder's: later", later("the encoder's"), 15, 80);
  claim("decoder's own: later", later("the decoder's own"), 40, 98, "13/c");
  print_difference("decoder's - encoder's, later", rows.at("the decoder's own").later(),
                   rows.at("the encoder's").later(), 5, 80);
  part("13/d");
  draw_schedule();
  part("");
  loss("loss, no head gone");
  loss("loss, 6 at random");
  part("13/e");
  loss("loss, 6 by cost", "13/e");
  loss("loss, 6 greedy");
  loss("loss, 9 at random");
  loss("loss, 9 by cost");
  loss("loss, 9 greedy");
  claim("6 greedy: at once", now("6, greedy"), 3, 70);
  claim("6 greedy: later", later("6, greedy"), 30, 98);
  claim("cross: later", later("the cross heads"), 0, 3);
  claim("one head: later", later("all but one"), 5, 70);
  part("");
  const Numbers greedy_later = rows.at("9, greedy").later();
  claim("9 greedy: later", mean(greedy_later), 20, 95);
  part("13/f");
  claim("9 gradually: later", later("9, gradually"), 10, 95, "13/f");
  print_difference("9: gradually - at once, later", rows.at("9, gradually").later(), greedy_later,
                   -50, 5);
  claim("9 from the start", later("9, from the start"), 35, 98);

  part("13/g");
  const Row &greedy = rows.at("9, greedy"), &fresh = rows.at("9, fresh ones back"),
            &zeros = rows.at("9, zeros back");
  double change = 0, least_fresh = 1e9, largest_zero = 0;
  for (std::size_t i = 0; i < std::size_t(seeds); ++i) {
    const auto loss_of = [&](const Row& row) { return row.outcomes[i].at_once.loss; };
    change = std::max(change, std::abs(loss_of(fresh) - loss_of(greedy)));
    least_fresh = std::min(least_fresh, fresh.outcomes[i].largest);
    largest_zero = std::max(largest_zero, zeros.outcomes[i].largest);
  }
  claim("zeros: largest weight later", largest_zero, 0, 0, "13/g");
  claim("fresh: change of the loss", change, 0, 1e-9);
  claim("fresh: largest weight later", least_fresh, 0.05, 10);
  claim("fresh: later", mean(fresh.later()), 25, 98);

  part("");
  const Numbers chance = rows.at("9, at random").later();
  claim("9 at random: later", mean(chance), 15, 90);
  const Interval paired = paired_interval(greedy_later, chance), x = mean_interval(greedy_later),
                 y = mean_interval(chance);
  fact("half the unpaired interval", std::hypot(x.high - x.value, y.high - y.value));
  part("13/h");
  fact("half the paired interval", paired.high - paired.value, "13/h");
  print_difference("9: greedy - random, later", greedy_later, chance, -15, 40);
  print_difference("6: greedy - random, at once", rows.at("6, greedy").at_once(),
                   rows.at("6, at random").at_once(), 2, 70);
  draw(arms, rows);
}

// ---------------------------------------------------------------- the figure

/// The exact match and the cost of each head at this moment; null for a head that is gone.
Record frame_of(TrainingRun& run, const Heads& all) {
  HeadGame game(run.learner(), ExampleSet::importance, choice_examples);
  std::vector<HeadSet> sets{game.all()};
  for (Index i = 0; i < game.size(); ++i) sets.push_back(game.all().without(i));
  const std::vector<double> losses = game.values(sets);
  Record costs = Record::array();
  for (const HeadId& head : all) {
    const auto found = std::find(game.players().begin(), game.players().end(), head);
    if (found == game.players().end()) {
      costs.push_back(nullptr);
    } else {
      const auto place = std::size_t(found - game.players().begin());
      costs.push_back(std::round((losses[place + 1] - losses[0]) * 1000) / 1000);
    }
  }
  return {{"step", run.steps()}, {"exact", quality_of(run).exact}, {"costs", costs}};
}

/// The costs of the heads of one model, up to the removal and, for some arms, to the end. Another
/// processor may train another model: the numbers are "rough".
void write_lives(const std::vector<Arm>& arms, const std::filesystem::path& saved) {
  if (!figure_wanted()) return;
  TrainingSettings settings = small_run(1, steps);
  settings.learner.quick = 250;
  const Task task = make_task("dates", settings.data);
  TrainingRun run(settings, task);
  const Heads all = live_heads(run.model());
  Record names = Record::array(), before = Record::array(), after = Record::array();
  for (const HeadId& head : all) {
    names.push_back({{"kind", name_of(head.kind)}, {"head", head.head}});
  }
  for (Index step = 0; step <= cut_step; step += step < 400 ? 25 : 50) {
    while (run.steps() < step) run.step();
    before.push_back(frame_of(run, all));
  }
  run.save(saved);
  for (const Arm& arm : arms) {
    if (arm.name != "none" && arm.name != "6, greedy" && arm.name != "the encoder's" &&
        arm.name != "the decoder's own") {
      continue;
    }
    TrainingRun copy(settings, task);
    copy.begin_with(saved, false);
    cut(copy.optimizer(), arm.heads);
    Record frames = Record::array();
    for (const Index step : {650, 660, 670, 680, 700, 725, 750, 800, 850, 900}) {
      while (copy.steps() < step) copy.step();
      frames.push_back(frame_of(copy, all));
    }
    after.push_back({{"name", arm.name}, {"frames", frames}});
  }
  write_figure(
      {{"rough", {"exact", "costs"}}, {"heads", names}, {"before", before}, {"arms", after}});
}

}  // namespace

int main() {
  std::printf("five models learn to read dates, and lose heads; this takes about a minute\n");
  std::fflush(stdout);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("headroom-prune-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::vector<std::unique_ptr<Trunk>> trunks(seeds);
  parallel_for(seeds, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      trunks[std::size_t(i)] = std::make_unique<Trunk>(std::uint64_t(i + 1), folder);
    }
  });
  const std::vector<Arm>& arms = trunks[0]->arms();
  std::vector<Row> rows(arms.size());
  parallel_for(Index(arms.size()) * seeds, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Trunk& trunk = *trunks[std::size_t(i % seeds)];
      const auto arm = std::size_t(i / seeds);
      rows[arm].outcomes[std::size_t(i % seeds)] = trunk.follow(trunk.arms()[arm]);
    }
  });
  write_lives(arms, folder / "lives.safetensors");
  std::filesystem::remove_all(folder);
  std::map<std::string, double> losses;
  for (const auto& [name, unused] : trunks[0]->losses()) {
    Numbers of_all;
    for (const auto& trunk : trunks) of_all.push_back(trunk->losses().at(name));
    losses[name] = mean(of_all);
  }
  std::map<std::string, Row> by_name;
  for (std::size_t a = 0; a < arms.size(); ++a) by_name[arms[a].name] = rows[a];
  print(arms, by_name, losses);
  return finish();
}
