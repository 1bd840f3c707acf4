// Recipes of pruning: their JSON, and those that are refused.
#include "headroom_measure/pruning/pruning_recipe.hpp"

#include "headroom/base/error.hpp"
#include "headroom/io/fields.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

TEST_CASE("a recipe survives JSON, with each schedule and with gates") {
  for (const Pace& pace : {Pace(OneShot{.at = 3}), Pace(Iterative{.from = 2, .rounds = 3}),
                           Pace(Gradual{.from = 4, .to = 9, .every = 2})}) {
    PruningRecipe recipe{.chooser = "movement",
                         .given = {},
                         .remove = 5,
                         .examples = 77,
                         .pace = pace,
                         .budget = {.over = BudgetOver::per_layer, .at_least = 1},
                         .rescoring = Rescoring::running,
                         .compensation = Compensation::mean,
                         .regrowth = Regrowth{.every = 2, .until = 30, .with = RegrowWith::fresh},
                         .drop_head = 0.25};
    recipe.check();
    const Record json = json_of(recipe);
    CHECK(json_of(struct_of<PruningRecipe>(json, "recipe")) == json);
    CHECK(json["rescoring"] == "running");
    CHECK(json["compensation"] == "mean");
    CHECK(json["regrowth"]["with"] == "fresh");
    CHECK(json["gates"].is_null());
    Record old = json;  // before recipes had the field
    old.erase("compensation");
    old.erase("regrowth");
    CHECK(struct_of<PruningRecipe>(old, "recipe").compensation == Compensation::none);
    CHECK_FALSE(struct_of<PruningRecipe>(old, "recipe").regrowth);
  }
  PruningRecipe gated{.chooser = "",
                      .gates = GateOptions{.method = "subset", .keep = 3, .begin = 1, .end = 9}};
  gated.check();
  const Record json = json_of(gated);
  CHECK(json_of(struct_of<PruningRecipe>(json, "recipe")) == json);
  CHECK(json["gates"]["method"] == "subset");
}

TEST_CASE("a recipe that cannot be followed is refused by its cause") {
  const auto refused = [](const PruningRecipe& recipe, const char* words) {
    INFO(words);
    CHECK_THROWS_AS(recipe.check(), UsageError);
    CHECK_THROWS_WITH(recipe.check(), Contains(words));
  };
  refused({.chooser = "sensitivty"}, "did you mean sensitivity?");
  refused({.chooser = ""}, "is unknown");
  refused({.remove = -1}, "-1 heads");
  refused({.examples = 0}, "0 examples");
  const HeadId head{AttentionKind::cross, 0, 1};
  refused({.given = {head}, .remove = 2}, "2 heads to remove, but 1 are given");
  refused({.given = {head}, .remove = 1, .rescoring = Rescoring::each_event},
          "rescoring \"each_event\" would change it");
  refused({.pace = Gradual{.from = 5, .to = 5}}, "steps must rise");
  refused({.drop_head = 1}, "DropHead with probability 1");
  refused({.chooser = "fisher", .rescoring = Rescoring::running},
          "running_sensitivity, movement; not fisher");
  refused({.gates = GateOptions{.method = "subsets"}}, "did you mean subset?");
  const Regrowth swaps{.every = 2, .until = 30};
  refused({.rescoring = Rescoring::each_event, .regrowth = swaps}, "none are removed");
  refused({.remove = 2, .regrowth = swaps}, "rescoring \"once\" keeps the first scores");
  refused({.remove = 2,
           .pace = OneShot{.at = 28},
           .rescoring = Rescoring::each_event,
           .regrowth = swaps},
          "from step 28 on, so the first swap, 2 steps later");
  refused({.compensation = Compensation::mean,
           .gates = GateOptions{.method = "subset", .keep = 3, .begin = 1, .end = 9}},
          "gates close the heads before");
  refused({.remove = 2, .gates = GateOptions{.method = "subset", .keep = 3, .begin = 1, .end = 9}},
          "2 heads to remove beside learned gates, which keep 3");
}

TEST_CASE("choosers come before metrics of the same name") {
  CHECK(is_metric_choice("sensitivity"));
  CHECK_FALSE(is_metric_choice("pairwise"));
  CHECK_FALSE(is_metric_choice("greedy"));
}
