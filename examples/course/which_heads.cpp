// Which heads matter: the numbers of chapter 11. A small model with 12 heads learns to read dates.
// Early and at the end its heads are scored by several metrics, on some examples, and each head is
// switched off in turn, on other examples. Then the loss of all 4096 sets of heads gives Shapley
// values.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "facts.hpp"
#include "figure.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "headroom_measure/importance/shapley.hpp"
#include "headroom_runs/runs/training_run.hpp"
#include "small_run.hpp"

using namespace headroom;

namespace {

constexpr Index early = 150, late = 1500;  // steps
constexpr Index examples = 200;            // of each of the two sets
constexpr Index of_game = 32;              // of the game with 4096 sets of heads
const std::vector<std::string> metrics = {"attention_l1", "magnitude", "sensitivity",
                                          "logit_jacobian", "leave_one_out"};

double total(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// v(all but h) - v(all) of each player.
std::vector<double> costs_of(HeadGame& game) {
  std::vector<double> costs;
  for (Index h = 0; h < game.size(); ++h) {
    costs.push_back(game.value(game.all().without(h)) - game.value(game.all()));
  }
  return costs;
}

/// The heads of a model at one moment of its training.
struct Moment {
  explicit Moment(Learner& learner) {
    const ImportanceTable table = measure_importance(learner, metrics, {.examples = examples});
    for (const ImportanceTable::Column& column : table.columns) {
      scores[column.info.name] = column.scores;
    }
    HeadGame game(learner, ExampleSet::selection, examples);
    loss = game.value(game.all());
    costs = costs_of(game);
  }
  /// Rank correlation of a metric with the costs.
  double agreement(const std::string& metric) const {
    return rank_correlation(scores.at(metric), costs);
  }

  std::map<std::string, std::vector<double>> scores;
  std::vector<double> costs;  // of closing each head, on other examples
  double loss = 0;
};

/// A model that is measured early and at the end.
struct Trained {
  explicit Trained(std::uint64_t seed)
      : run(small_run(seed, late), make_task("dates", small_run(seed, late).data)),
        first(after(early)),
        last(after(late)) {}
  Moment after(Index steps) {
    while (run.steps() < steps) run.step();
    return Moment(run.learner());
  }
  TrainingRun run;
  Moment first, last;
};

/// A model's game: the loss of every set of its heads.
struct Game {
  explicit Game(Learner& learner)
      : game(learner, ExampleSet::selection, of_game),
        values(all_values(game)),
        costs(costs_of(game)),
        shapley(exact_shapley(values, game.size())) {}
  HeadGame game;
  std::vector<double> values, costs, shapley;
};

double least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}
double most(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

/// Prints a table layer x head: each score as a number and as a bar.
void draw(const char* title, const std::vector<HeadId>& heads, const std::vector<double>& scores) {
  std::printf("%-12s head 0        head 1        head 2        head 3\n", title);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    if (heads[h].head == 0) std::printf("  %-10s", name_of(heads[h].kind));
    const auto length = std::lround(7 * std::max(0.0, scores[h]) / most(scores));
    std::printf(" %5.2f %-7s", scores[h], std::string(std::size_t(length), '#').c_str());
    if (heads[h].head == 3) std::printf("\n");
  }
}

void print(Game& of_all) {
  HeadGame& game = of_all.game;
  claim("sets of heads", double(of_all.values.size()), 4096, 4096);
  const double whole = of_all.values.back(), together = of_all.values.front() - whole;
  claim("loss without any head", of_all.values.front(), 10, 200);
  claim("all heads together", together, 10, 200);
  claim("sum of costs", total(of_all.costs), 2, 150);
  claim("sum of costs / all together", total(of_all.costs) / together, 0.05, 0.95, "11/e");
  Index more = 0, pairs = 0;
  double surprise = 0;
  for (Index i = 0; i < game.size(); ++i) {
    for (Index j = 0; j < i; ++j, ++pairs) {
      const double both = game.value(game.all().without(i).without(j)) - whole,
                   apart = at(of_all.costs, i) + at(of_all.costs, j);
      more += both > apart ? 1 : 0;
      surprise = std::max(surprise, both - apart);
    }
  }
  claim("pairs of heads", double(pairs), 66, 66);
  claim("pairs that cost more together", double(more), 34, 66);
  claim("most that a pair adds", surprise, 0.3, 30);
  draw("Shapley", game.players(), of_all.shapley);
  claim("sum of Shapley values", total(of_all.shapley), together - 1e-9, together + 1e-9);
}

// ---------------------------------------------------------------- the figure

/// The loss of every set of heads: head i is in set number S if bit i of S is 1. Another processor
/// may train another model: the losses are "rough".
void write_game(const Game& of_all) {
  if (!figure_wanted()) return;
  Record heads = Record::array(), losses = Record::array();
  for (const HeadId& head : of_all.game.players()) {
    heads.push_back({{"kind", name_of(head.kind)}, {"head", head.head}});
  }
  for (const double loss : of_all.values) {
    losses.push_back(loss < 1 ? std::round(loss * 1000) / 1000 : rounded_number(loss, 3));
  }
  write_figure({{"rough", {"losses"}}, {"heads", heads}, {"losses", losses}});
}

}  // namespace

int main() {
  constexpr Index seeds = 5;
  std::printf("five models learn to read dates; this takes about half a minute\n");
  std::fflush(stdout);
  std::vector<std::unique_ptr<Trained>> models(seeds);
  std::unique_ptr<Game> game;  // of the last model
  parallel_for(seeds, 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      models[std::size_t(i)] = std::make_unique<Trained>(std::uint64_t(i + 1));
      if (i == seeds - 1) game = std::make_unique<Game>(models.back()->run.learner());
    }
  });
  const auto of = [&](auto number) {
    std::vector<double> numbers;
    for (const auto& model : models) numbers.push_back(number(*model));
    return numbers;
  };
  const auto agreement = [&](Moment Trained::*moment, const char* metric) {
    return of([&](Trained& model) { return (model.*moment).agreement(metric); });
  };
  const auto sums = [&](Moment Trained::*moment) {
    return of([&](Trained& m) { return total((m.*moment).scores.at("sensitivity")); });
  };

  draw("cost", game->game.players(), game->costs);
  claim("heads", double(models[0]->last.costs.size()), 12, 12);

  part("11/a");
  const auto l1 = [](Trained& model) { return model.last.scores.at("attention_l1"); };
  const double low = least(of([&](Trained&m) { return least(l1(m)); })),
               high = most(of([&](Trained&m) { return most(l1(m)); }));
  claim("L1 of attention: least", low, 1 - 1e-9, 1 + 1e-9);
  claim("L1 of attention: most", high, 1 - 1e-9, 1 + 1e-9, "11/a");

  part("11/b");
  std::printf("rank correlation with the costs: median of five models\n");
  claim("early: weight norm", median(agreement(&Trained::first, "magnitude")), 0.2, 1);
  claim("end: weight norm", median(agreement(&Trained::last, "magnitude")), -0.5, 0.75, "11/b");
  claim("end: costs of other examples", median(agreement(&Trained::last, "leave_one_out")), 0.85,
        1);

  part("11/c");
  claim("early: loss", median(of([](Trained& m) { return m.first.loss; })), 1, 12);
  claim("end: loss", median(of([](Trained& m) { return m.last.loss; })), 0, 0.5);
  claim("early: sensitivity", median(agreement(&Trained::first, "sensitivity")), 0.6, 1);
  const std::vector<double> late_ones = agreement(&Trained::last, "sensitivity");
  claim("end: sensitivity", median(late_ones), -0.2, 0.75, "11/c");
  claim("end: sensitivity, worst of five", least(late_ones), -1, 0.6);
  draw("sensitivity", game->game.players(), models.back()->last.scores.at("sensitivity"));

  part("11/d");
  std::printf("sums over all heads: median of five models\n");
  const double slopes = median(sums(&Trained::first)), slopes_left = median(sums(&Trained::last));
  claim("early: sensitivities", slopes, 3, 20);
  claim("end: sensitivities", slopes_left, 0.1, 4);
  claim("sensitivities: end / early", slopes_left / slopes, 0.01, 0.5, "11/d");
  const double costs = median(of([](Trained&m) { return total(m.first.costs); })),
               costs_left = median(of([](Trained&m) { return total(m.last.costs); }));
  claim("early: costs", costs, 5, 50);
  claim("end: costs", costs_left, 5, 60);
  claim("costs: end / early", costs_left / costs, 0.4, 3);
  claim("early: logit Jacobian", median(agreement(&Trained::first, "logit_jacobian")), 0.6, 1);
  claim("end: logit Jacobian", median(agreement(&Trained::last, "logit_jacobian")), 0.4, 1);

  part("11/e");
  std::printf("one model: every set of heads\n");
  print(*game);
  write_game(*game);
  return finish();
}
