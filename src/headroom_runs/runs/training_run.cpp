// A whole training run.
#include "headroom_runs/runs/training_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/dropout.hpp"
#include "headroom_measure/importance/task_check.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::unique_ptr<Optimizer> optimizer_of(const TrainingSettings& settings, Learner& learner,
                                        std::unique_ptr<Optimizer> given) {
  std::vector<ParameterGroup> groups = apply_rules(settings.parts, learner);
  if (given != nullptr) return given;
  return make_optimizer(learner.model(), settings.optimizer, std::move(groups));
}

std::unique_ptr<Learner> learner_of(const TrainingSettings& settings, Task task) {
  if (settings.learner.seed != settings.data.seed ||
      settings.data.window != settings.learner.length) {
    throw UsageError(
        "training run: seed or length of data and learner differ; call derive() on the settings");
  }
  require_examples(task);
  const ModelConfig config = settings.config_for(task);
  return make_learner(std::move(task), config, settings.learner);
}

/// Throws FileError naming the first setting that is another one in the folder's config.json.
void check_same_settings(Record mine, const RunFolder& folder) {
  const std::string file = folder.config().string();
  Record stored = TrainingSettings::from_record(folder.read_config(), file).to_record();
  for (Record* settings : {&mine, &stored}) {
    for (const char* file : {"data", "validation_data", "test_data"}) {
      (*settings)["task"].erase(file);  // it may move
    }
  }
  const auto difference = first_difference(stored, mine);
  if (!difference) return;
  throw FileError(
      fmt::format("{}: \"{}\" is {}, but this run has {}; resume with the data and settings that "
                  "the file records, or use another folder",
                  file, difference->key, difference->first, difference->second));
}

}  // namespace

TrainingRun::TrainingRun(TrainingSettings settings, std::unique_ptr<Learner> learner,
                         std::unique_ptr<Optimizer> optimizer)
    : settings_(std::move(settings)),
      learner_(std::move(learner)),
      optimizer_(optimizer_of(settings_, *learner_, std::move(optimizer))),
      trainer_(*optimizer_, settings_.rate,
               {.seed = settings_.learner.seed, .clip = settings_.clip}),
      telemetry_(learner_->model(), settings_.telemetry),
      best_(learner_->better()),
      rate_missing_(!settings_.rate_function.empty()) {
  if (const ModelConfig* config = config_of(learner_->model())) settings_.model = *config;
  trainer_.add(telemetry_);
  checkpoint_.about = learner_->about();
  checkpoint_.add("model", learner_->model());
  checkpoint_.add("optimizer", *optimizer_);
  checkpoint_.add("trainer", trainer_);
  checkpoint_.add("data", learner_->position());
  checkpoint_.add("best", best_);
}

TrainingRun::TrainingRun(TrainingSettings settings, Task task)
    : TrainingRun(settings, learner_of(settings, std::move(task))) {}

void TrainingRun::add(const std::string& name, StepPart& part) {
  if (parts_fixed_) {
    throw UsageError(fmt::format(
        "training run: add \"{}\" before keep_in() and load(), which restore its state", name));
  }
  if (auto* state = dynamic_cast<Stateful*>(&part)) checkpoint_.add(name, *state);
  trainer_.add(part);
}

void TrainingRun::set_rate(std::function<double(Index step)> rate, std::string text) {
  if (parts_fixed_) {
    throw UsageError("training run: give the learning rate before keep_in() and load()");
  }
  RateSchedule schedule(std::move(rate), text);
  settings_.rate_function = std::move(text);
  trainer_.set_rate(std::move(schedule));
  rate_missing_ = false;
}

void TrainingRun::every(Index n, Observer observer) {
  if (n < 1) {
    throw UsageError(
        fmt::format("training run: an interval of {} steps; it must be at least 1", n));
  }
  observers_.push_back({n, std::move(observer)});
}

std::vector<std::string> TrainingRun::keep_in(RunFolder folder, Changes changes) {
  const Record config = settings_.to_record();
  if (std::filesystem::exists(folder.config())) {
    check_same_settings(config, folder);
  } else {
    folder.write_config(config);
  }
  manifest_ = manifest_of(folder, settings_.data_files());
  std::vector<std::string> warnings;
  if (folder.resumes()) {
    warnings = check_resumable(folder, manifest_, checkpoint_.about, settings_.data.data, changes);
    load(folder.checkpoint());
    if (trainer_.steps() > settings_.steps) {
      throw FileError(fmt::format("{}: \"trainer.steps\": {} steps were done, but the run has {}",
                                  folder.checkpoint().string(), trainer_.steps(), settings_.steps));
    }
    check_best(folder);
  }
  folder_ = std::move(folder);
  parts_fixed_ = true;
  return warnings;
}

void TrainingRun::check_best(const RunFolder& folder) const {
  if (best_.step() == 0 || config_of(learner_->model()) == nullptr) return;
  if (best_.step() > trainer_.steps()) {
    throw FileError(fmt::format("{}: the best step is {}, but only {} were done",
                                folder.checkpoint().string(), best_.step(), trainer_.steps()));
  }
  const SavedModel best = load_model(folder.best());
  const std::vector<HeadId> alive = live_heads(learner_->model()), saved = live_heads(*best.model);
  const bool fits = std::all_of(saved.begin(), saved.end(), [&](const HeadId& head) {
    return std::find(alive.begin(), alive.end(), head) != alive.end();
  });
  if (fits && best.config.to_record() == settings_.model.to_record()) return;
  throw FileError(
      fmt::format("{}: is not a model of this run: its configuration or its heads are others; "
                  "restore the file from a copy",
                  folder.best().string()));
}

void TrainingRun::save(const std::filesystem::path& checkpoint) const {
  if (!folder_) return checkpoint_.save(checkpoint);
  Manifest manifest = manifest_;
  if (log_) log_->sync();
  manifest.log = log_ ? log_->mark() : log_mark(folder_->metrics());
  checkpoint_.save(checkpoint, json_of(manifest));
}

void TrainingRun::load(const std::filesystem::path& checkpoint) {
  checkpoint_.load(checkpoint);
  parts_fixed_ = true;
}

void TrainingRun::begin_with(const std::filesystem::path& checkpoint, bool keep_best) {
  checkpoint_.load(checkpoint, Checkpoint::Absent::leave);
  if (!keep_best) best_ = BestSoFar(learner_->better());
  parts_fixed_ = true;
}

void TrainingRun::take_weights(const std::filesystem::path& checkpoint, Moments moments) {
  const TensorFile file = read_checkpoint(checkpoint);
  const SavedModel saved = load_model(checkpoint);
  const auto same_heads = [&] { return live_heads(*saved.model) == live_heads(model()); };
  std::vector<HeadId> lost;  // there, and not yet here
  for (const HeadId& head : live_heads(model())) {
    const auto theirs = live_heads(*saved.model);
    if (std::find(theirs.begin(), theirs.end(), head) == theirs.end()) lost.push_back(head);
  }
  optimizer_->apply(prune(model(), lost));
  if (!same_heads()) {
    throw UsageError(
        fmt::format("{}: its model does not have all heads of this run", checkpoint.string()));
  }
  std::map<std::string, Tensor> theirs;
  for (const NamedParameter& one : parameters(*saved.model)) theirs.emplace(one.name, one.tensor);
  for (NamedParameter& mine : parameters(model())) {
    const auto found = theirs.find(mine.name);
    if (found == theirs.end() || !(found->second.shape() == mine.tensor.shape())) {
      throw FileError(fmt::format("{}: has no parameter {} of shape {}", checkpoint.string(),
                                  mine.name, mine.tensor.shape().text()));
    }
    mine.tensor.set_value(found->second.value());
  }
  if (moments == Moments::fresh) return;
  optimizer_->load_state(StateReader(file, "optimizer."));
  trainer_.keep_moments();
}

const RunFolder& TrainingRun::folder() const {
  if (!folder_) throw UsageError("training run: it has no folder; call keep_in() first");
  return *folder_;
}

StepReport TrainingRun::step() {
  if (rate_missing_) {
    throw UsageError(fmt::format(
        "training run: its learning rate is the function \"{}\", which config.json cannot "
        "keep; give it with set_rate()",
        settings_.rate_function));
  }
  const Index tokens = learner_->next_batch();
  return trainer_.step([&](HeadProbe* probe) { return loss(probe); }, tokens);
}

Tensor TrainingRun::loss(HeadProbe* probe) {
  const Index parts = settings_.learner.accumulate;
  if (parts == 1) return learner_->loss(probe);
  Tensor last;
  double before = 0;  // the loss of the parts whose tape is gone
  for (Index part = 0; part < parts; ++part) {
    // Each part draws its own dropout masks.
    const RandomStep random(settings_.learner.seed,
                            static_cast<std::uint64_t>(trainer_.steps() * parts + part));
    const Tensor next = learner_->part_of_loss(part, probe);
    if (!next.defined()) continue;
    if (last.defined()) {
      before += double(last.item());
      last.backward();
    }
    last = next;
  }
  return last + Real(before);
}

bool TrainingRun::is_out_of_patience() const {
  return settings_.patience > 0 && best_.step() > 0 &&
         trainer_.steps() - best_.step() >= settings_.patience * settings_.evaluate_every;
}

bool TrainingRun::run(const StopSignals* stop, Index until) {
  if (is_out_of_patience()) return true;
  TrainingLoop loop(settings_.steps, [this] { return step(); });
  if (settings_.evaluate_every > 0) {
    loop.every(settings_.evaluate_every, [&](StepReport& report) {
      evaluate(report);
      if (report.settled && is_out_of_patience()) loop.end();
    });
  }
  for (const auto& [n, observer] : observers_) loop.every(n, observer);
  if (!folder_) return loop.run(trainer_.steps(), stop, until) || is_out_of_patience();

  MetricsLog& log = log_.emplace(folder_->metrics(), trainer_.steps());
  Index saved = 0;  // the step
  const auto save_checkpoint = [this, &saved](const StepReport& report) {
    if (saved != report.step) save(folder_->checkpoint());
    saved = report.step;
  };
  loop.each([&](StepReport& report) {
    const bool last = report.step >= settings_.steps;
    const bool evaluated = report.metrics.contains("validation_loss");
    if (report.step % log_every == 0 || last || evaluated) log(report);
  });
  loop.each([&log](StepReport& report) {
    for (const Record& line : report.lines) log.write(line);
  });
  // Before the checkpoint: a run that resumes from it does not come to this step again.
  loop.each([this](const StepReport& report) {
    const std::vector<Index>& kept = settings_.snapshots;
    if (std::find(kept.begin(), kept.end(), report.step) == kept.end()) return;
    save(folder_->new_snapshot(report.step));
  });
  if (settings_.save_every > 0) loop.every(settings_.save_every, save_checkpoint);
  loop.at_end(save_checkpoint);
  const bool done = loop.run(trainer_.steps(), stop, until);
  log_.reset();
  return done || is_out_of_patience();
}

void TrainingRun::evaluate(StepReport& report) {
  const Record measured = learner_->evaluate();
  report.metrics.update(measured);
  if (!report.settled) return;
  const double value = json_number(measured, learner_->measure(), "Learner::evaluate()");
  if (best_.improves(value, report.step) && folder_) {
    // No run is resumed from this checkpoint; its data are compared before it is measured.
    const Manifest manifest{.data = manifest_.data, .settings = Record::object()};
    checkpoint_.save(folder_->best(), json_of(manifest), "optimizer");
  }
}

Record TrainingRun::conclude(const Record& more, bool test) {
  const bool best_is_last = best_.step() == 0 || best_.step() == trainer_.steps();
  if (!best_is_last && folder_) {
    ModelState(model()).load_state(StateReader(read_checkpoint(folder_->best()), "model."));
  }
  Record summary{{"task", settings_.task},
                 {"seed", settings_.data.seed},
                 {"steps", trainer_.steps()},
                 {"parameters", count_parameters(model())},
                 {"heads_alive", live_heads(model()).size()},
                 {"best_step", best_is_last ? trainer_.steps() : best_.step()}};
  if (is_out_of_patience()) summary["ended_by"] = "patience";
  summary["task_check"] = json_of(check_task(*learner_));
  if (test) summary["test"] = learner_->test();
  summary.update(more);
  if (folder_) write_file(folder_->summary(), summary.dump(2) + "\n");
  return summary;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
