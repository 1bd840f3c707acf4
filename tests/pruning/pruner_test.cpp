// Pruner: which heads it chooses, when it removes them, what a checkpoint must hold.
#include "headroom_measure/pruning/pruner.hpp"

#include <set>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/checksums.hpp"
#include "headroom/io/json.hpp"
#include "headroom_runs/records/head_records.hpp"
#include "headroom_runs/runs/training_run.hpp"
#include "support/catch.hpp"
#include "support/small_settings.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;

namespace {

constexpr Gradual pace{.from = 4, .to = 12, .every = 2};
Index gone_at(Index step) { return removed_at(pace, 6, step); }

/// A run with a pruner.
struct Pruned {
  explicit Pruned(const PruningRecipe& recipe = {.remove = 6,
                                                 .pace = pace,
                                                 .budget = {.at_least_of_kind = 0}})
      : run(small_settings(16), small_task()), pruner(run.learner(), run.optimizer(), recipe) {
    run.add("pruning", pruner);
  }
  TrainingRun run;
  Pruner pruner;
};

}  // namespace

TEST_CASE("the least sensitive heads go, at the steps of the schedule") {
  Pruned pruned;
  std::vector<HeadScore> wanted;
  for (Index step = 1; step <= 16; ++step) {
    const StepReport report = pruned.run.step();
    CHECK(report.heads_alive == 12 - gone_at(step));
    CHECK(report.settled == (step >= 12));
    CHECK(pruned.pruner.chosen() == (step >= 4));
    if (step == 4) wanted = measured_sensitivity(pruned.run.learner());
  }
  double largest_gone = 0, smallest_kept = 1e300;
  std::set<Index> turns;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const HeadHistory& head = pruned.pruner.heads().at(i);
    CHECK(head.id == wanted[i].head);
    CHECK(head.importance == wanted[i].score);
    CHECK(head.cost.has_value());
    CHECK(head.turn.has_value() == head.removed_at.has_value());
    if (head.turn) {
      turns.insert(*head.turn);
      CHECK(gone_at(*head.removed_at) > *head.turn);
      CHECK(gone_at(*head.removed_at - 1) <= *head.turn);
      largest_gone = std::max(largest_gone, *head.importance);
    } else {
      smallest_kept = std::min(smallest_kept, *head.importance);
    }
  }
  CHECK(turns == std::set<Index>{0, 1, 2, 3, 4, 5});
  CHECK(largest_gone <= smallest_kept);

  RunRecord page;
  add_history(page, pruned.pruner.history(), "fused", 16);
  CHECK(page.heads.size() == 12);
  CHECK(page.heads[0].importance.of("fused") == wanted[0].score);
  CHECK(page.schedule.front() == ScheduleLine{0, 12});
  CHECK(page.schedule.back() == ScheduleLine{16, 6});
}

TEST_CASE("every attention keeps what it must, and a chooser may decide in the pruner's place") {
  Pruned keeping(PruningRecipe{.remove = 6, .pace = pace, .budget = {.at_least = 2}});
  keeping.run.run();
  for (const NamedAttention& found : attentions(keeping.run.model())) {
    CHECK(found.attention->alive().size() == 2);
  }
  Pruned none(PruningRecipe{});
  none.run.run();
  CHECK_FALSE(none.pruner.chosen());
  RunRecord page;
  add_history(page, none.pruner.history(), "fused", 16);
  CHECK(page.heads.empty());
  CHECK(live_heads(none.run.model()).size() == 12);

  TrainingRun run(small_settings(16), small_task());
  int calls = 0;
  Pruner pruner(run.optimizer(), {.remove = 2, .pace = Gradual{.from = 0, .to = 2}}, [&](Index) {
    ++calls;
    HeadChoice choice;
    for (const HeadId& head : live_heads(run.model())) choice.importance.push_back({head, 1});
    choice.order = {{AttentionKind::cross, 0, 2}, {AttentionKind::cross, 0, 1}};
    return choice;
  });
  run.add("pruning", pruner);
  pruner.choose(0);
  for (int i = 0; i < 3; ++i) run.step();
  CHECK(calls == 1);
  for (const HeadHistory& head : pruner.heads()) {
    const bool gone =
        head.id.kind == AttentionKind::cross && (head.id.head == 1 || head.id.head == 2);
    CHECK(head.removed_at.has_value() == gone);
    CHECK_FALSE(head.cost.has_value());
  }
}

TEST_CASE("what cannot be removed is refused before a step, and so is an incomplete choice") {
  CHECK_THROWS_AS(
      Pruned(PruningRecipe{
          .remove = 11, .pace = Gradual{.from = 0, .to = 2}, .budget = {.at_least = 1}}),
      UsageError);
  CHECK_THROWS_AS(Pruned(PruningRecipe{.remove = 1, .pace = Gradual{.from = 5, .to = 5}}),
                  UsageError);
  CHECK_THROWS_AS(Pruned(PruningRecipe{.remove = -1, .pace = pace}), UsageError);
  TrainingRun run(small_settings(16), small_task());
  HeadChoice choice;
  CHECK_THROWS_WITH(
      Pruner(run.optimizer(), {.compensation = Compensation::mean}, [&](Index) { return choice; }),
      Contains("need a learner"));
  CHECK_THROWS_WITH(Pruner(run.optimizer(),
                           {.remove = 2,
                            .pace = OneShot{.at = 2},
                            .rescoring = Rescoring::each_event,
                            .regrowth = Regrowth{.every = 1, .until = 9}},
                           [&](Index) { return choice; }),
                    Contains("need a learner"));
  Pruner pruner(run.optimizer(), {.remove = 2, .pace = Gradual{.from = 0, .to = 2}},
                [&](Index) { return choice; });
  const auto refused = [&](const char* words) {
    CHECK_THROWS_AS(pruner.choose(0), UsageError);
    CHECK_THROWS_WITH(pruner.choose(0), Contains(words));
    CHECK_FALSE(pruner.chosen());
  };
  const std::vector<HeadId> heads = live_heads(run.model());
  refused("0 heads were chosen");
  choice.order = {heads[0], {AttentionKind::cross, 7, 0}};
  refused("cross 7.0 is not alive");
  choice.order = {heads[0], heads[1]};
  choice.importance = {{heads[0], 1}, {heads[1], 2}};
  refused("all live heads");
  choice.importance.clear();
  for (const HeadId& head : heads) choice.cost.push_back({head, 1});
  std::swap(choice.cost[0], choice.cost[1]);
  refused("in their order");
  choice.cost.clear();
  pruner.choose(0);
  CHECK(pruner.heads().size() == 12);
  CHECK_FALSE(pruner.heads()[0].importance.has_value());
}

TEST_CASE("a malformed list of heads in a checkpoint is refused by its name") {
  const TemporaryFolder folder;
  const auto refused = [&](const Record& heads, const char* words) {
    TensorFile file;
    StateWriter(file).record("recipe", Record::object());
    StateWriter(file).record("heads", heads);
    StateWriter(file).record("timeline", Record::array());
    Pruned pruned;
    CHECK_THROWS_AS(pruned.pruner.load_state(StateReader(file)), FileError);
    CHECK_THROWS_WITH(pruned.pruner.load_state(StateReader(file)), Contains(words));
  };
  const Record head{{"kind", "cross"}, {"layer", 0},       {"head", 1}, {"importance", 0.5},
                    {"cost", 0.1},     {"removed_at", 10}, {"turn", 0}};
  Record wrong = head;
  wrong["kind"] = "diagonal";
  refused(Record::array({wrong}), "diagonal");
  wrong = head;
  wrong["layer"] = "first";
  refused(Record::array({wrong}), "layer must be a whole number");
  refused(Record::object(), "must be a list");
}

TEST_CASE("a damaged timeline in a checkpoint is refused") {
  const TemporaryFolder folder;
  Pruned pruned;
  for (Index step = 1; step <= 8; ++step) pruned.run.step();
  REQUIRE(pruned.pruner.timeline().size() == 3);
  pruned.run.save(folder / "sound");
  const TensorFile sound = TensorFile::read(folder / "sound");
  const Record timeline = parse_json(sound.metadata.at("pruning.timeline"), "timeline");
  const auto load = [&](const Record& other) {
    TensorFile file = sound;
    file.metadata["pruning.timeline"] = other.dump();
    file.metadata.erase(checksums_key);
    file.write(folder / "other");
    Pruned().run.load(folder / "other");
  };
  const auto refused = [&](const Record& other, const char* words) {
    CHECK_THROWS_AS(load(other), FileError);
    CHECK_THROWS_WITH(load(other), Contains("other: \"pruning.") && Contains(words));
  };
  CHECK_NOTHROW(load(timeline));
  Record other = timeline;
  other[0]["scores"].erase(0);
  refused(other, "timeline[0] has 11 scores for 12 heads");
  refused(Record::array(), "the removed heads are not those of the events");
  other = timeline;
  other[1]["step"] = 5;
  refused(other, "the removed heads are not those of the events");
  other = timeline;
  other[1]["removed"].erase(0);
  refused(other, "the removed heads are not those of the events");
}
