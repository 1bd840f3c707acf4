// Runs that end early, begin with the checkpoint of another run, or lack heads from the start.
#include "cli/train/train_branch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/options.hpp"
#include "cli/train/train_settings.hpp"
#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/io/stateful.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

std::string text_of(const std::vector<HeadId>& heads) {
  std::string text;
  for (const HeadId& head : heads) text += (text.empty() ? "" : ",") + head.text();
  return text;
}

/// The settings of data, model and training that a run and its trunk must share.
Record comparable(TrainingSettings settings, Index steps) {
  settings.steps = steps;
  settings.evaluate_every = settings.save_every = settings.telemetry = 0;
  settings.snapshots.clear();
  return settings.to_record();
}

}  // namespace

void BranchSettings::to_record(Record& training) const {
  if (until > 0) training["until"] = until;
  if (!from.empty()) training["from"] = from;
  if (!without.empty()) training["without"] = text_of(without);
  if (!test) training["test"] = test;
  if (!page) training["page"] = page;
  if (cut) training["measure_cut"] = cut;
}

BranchSettings BranchSettings::from_record(const Record& training, const std::string& origin) {
  BranchSettings s;
  try {
    if (training.contains("until")) s.until = json_integer(training, "until", origin);
    if (training.contains("from")) s.from = json_text(training, "from", origin);
    if (training.contains("test")) s.test = json_boolean(training, "test", origin);
    if (training.contains("page")) s.page = json_boolean(training, "page", origin);
    if (training.contains("measure_cut")) s.cut = json_boolean(training, "measure_cut", origin);
    if (training.contains("without")) {
      s.without = heads_from(json_text(training, "without", origin), origin + ": \"without\"");
    }
  } catch (const UsageError& error) {
    throw FileError(error.what());
  }
  return s;
}

std::vector<CLI::Option*> BranchOptions::add_to(CLI::App& app) {
  return {app.add_option("--without", without_,
                         "heads to remove before the first step, such as \"cross 1.3,decoder 0.0\"")
              ->type_name("HEADS"),
          app.add_option("--until", until_,
                         "end the run after this step; the learning rate schedule still covers all "
                         "--steps"),
          app.add_option("--from", from_,
                         "begin with the checkpoint of another run, which must have the same data, "
                         "model and training settings and must not remove heads")
              ->type_name("RUN"),
          app.add_flag("--no-test", no_test_, "do not measure the test set"),
          app.add_flag("--no-page", no_page_, "do not write the report"),
          app.add_flag("--measure-cut", measure_cut_,
                       "also measure the model right after the last removal of heads")};
}

BranchSettings BranchOptions::settings() const {
  if (until_ && *until_ < 1) throw UsageError(fmt::format("--until {} is less than 1", *until_));
  return {.until = until_.value_or(0),
          .from = from_.empty() ? "" : fs::absolute(from_).lexically_normal().string(),
          .without = heads_from(without_, "--without"),
          .test = !no_test_,
          .page = !no_page_,
          .cut = measure_cut_};
}

void require_same_beginning(const TrainSettings& settings) {
  const std::string& from = settings.branch.from;
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("--from {}: {}", from, why));
  };
  const RunFolder trunk(from, IfExists::resume);
  if (!trunk.resumes()) refuse("the run has no checkpoint; train it first");
  const Record config = trunk.read_config();
  if (config.contains("cut")) {
    refuse("`prune` wrote this model without an optimizer; name a run of `train`");
  }
  const TrainSettings theirs = TrainSettings::from_record(config, trunk.config().string());
  const Record mine = comparable(settings.run, settings.run.steps),
               other = comparable(theirs.run, settings.run.steps);
  if (const auto difference = first_difference(other, mine)) {
    refuse(fmt::format("\"{}\" is {} in that run and {} in this one; they must be equal",
                       difference->key, difference->first, difference->second));
  }
  if (theirs.pruning.removes()) refuse("that run removes heads; name one that keeps all of them");
  if (theirs.pruning.drop_head != settings.pruning.drop_head) {
    refuse(fmt::format("--drop-head is {} in that run and {} in this one; they must be equal",
                       theirs.pruning.drop_head, settings.pruning.drop_head));
  }
  const TensorFile checkpoint = TensorFile::read(trunk.checkpoint());
  const Index steps = StateReader(checkpoint, "trainer.").integer("steps");
  if (steps >= settings.run.steps) {
    refuse(fmt::format("that run has done {} steps; --steps {} must be greater", steps,
                       settings.run.steps));
  }
  const PruningRecipe& pruning = settings.pruning;
  const Index first = pruning.gates ? pruning.gates->begin + 1 : first_step(pruning.pace);
  if (pruning.removes() && first <= steps) {
    refuse(fmt::format("that run has done {} steps; --prune-from {} must be greater", steps,
                       first_step(pruning.pace)));
  }
  if (theirs.branch.without != settings.branch.without) {
    refuse("--without must list the same heads as in that run");
  }
}

void begin_with_trunk(TrainingRun& run, const TrainSettings& settings, const RunFolder& folder) {
  const RunFolder trunk(settings.branch.from, IfExists::resume);
  const bool whole = !settings.pruning.removes();
  run.begin_with(trunk.checkpoint(), whole);
  const auto copy = [](const fs::path& from, const fs::path& to) {
    if (fs::exists(from)) write_file(to, read_file(from));
  };
  copy(trunk.metrics(), folder.metrics());
  if (whole) copy(trunk.best(), folder.best());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
