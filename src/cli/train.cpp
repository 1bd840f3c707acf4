// `headroom train`: trains a model on a task, evaluates, saves, removes heads, resumes.
#include <fmt/format.h>

#include <cctype>
#include <memory>

#include "cli/command.hpp"
#include "cli/environment.hpp"
#include "cli/options.hpp"
#include "cli/train_settings.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/names.hpp"
#include "headroom/heads/importance.hpp"
#include "headroom/heads/pruning.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/report/report.hpp"
#include "headroom/report/terminal.hpp"
#include "headroom/train/measures.hpp"
#include "headroom/train/metrics_log.hpp"
#include "headroom/train/progress.hpp"
#include "headroom/train/run_folder.hpp"
#include "headroom/train/telemetry.hpp"
#include "headroom/train/training_loop.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Which heads were chosen and when each went: a part of checkpoints.
class PruningState : public Stateful {
 public:
  Record heads = Record::array();  // kind, layer, head, importance, cost, removed_at

  /// `costs` are of the same heads: what removing each alone does to the loss.
  void choose_from(const std::vector<HeadScore>& scores, const std::vector<HeadScore>& costs,
                   Index total, Index keep) {
    const std::vector<HeadId> order = choose(least_important_first(scores), total, keep);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const HeadScore& score = scores[i];
      const auto place = std::find(order.begin(), order.end(), score.head);
      heads.push_back({{"kind", name_of(score.head.kind)},
                       {"layer", score.head.layer},
                       {"head", score.head.head},
                       {"importance", score.score},
                       {"cost", costs[i].score},
                       {"removed_at", nullptr},
                       {"turn", place == order.end() ? Record() : Record(place - order.begin())}});
    }
  }
  std::vector<HeadId> order() const {
    std::map<Index, HeadId> turns;
    for (const Record& head : heads) {
      if (!head["turn"].is_null()) turns[head["turn"].get<Index>()] = id_of(head);
    }
    std::vector<HeadId> result;
    for (const auto& [turn, head] : turns) result.push_back(head);
    return result;
  }
  void removed(const std::vector<HeadId>& gone, Index step) {
    for (Record& head : heads) {
      if (std::find(gone.begin(), gone.end(), id_of(head)) != gone.end()) head["removed_at"] = step;
    }
  }
  void save_state(StateWriter to) const override { to.record("heads", heads); }
  void load_state(const StateReader& from) override { heads = from.record("heads"); }

 private:
  static HeadId id_of(const Record& head) {
    HeadId id{AttentionKind::encoder_self, head["layer"], head["head"]};
    for (const AttentionKind kind : all_of<AttentionKind>()) {
      if (head["kind"] == name_of(kind)) id.kind = kind;
    }
    return id;
  }
};

/// One training run, from its settings to its summary.
class TrainingRun {
 public:
  TrainingRun(TrainSettings settings, Task task, RunFolder folder)
      : settings_(std::move(settings)),
        folder_(std::move(folder)),
        learner_(make_learner(std::move(task), settings_.model, settings_.learner)),
        optimizer_(learner_->model(), {.beta2 = settings_.beta2,
                                       .weight_decay = settings_.weight_decay,
                                       .groups = {no_decay_of_vectors()}}),
        trainer_(optimizer_, settings_.rate,
                 {.seed = settings_.learner.seed, .clip = settings_.clip}),
        telemetry_(learner_->model(), settings_.telemetry),
        best_(learner_->better()) {
    trainer_.add(telemetry_);
    checkpoint_.about = learner_->about();
    checkpoint_.add("model", learner_->model());
    checkpoint_.add("optimizer", optimizer_);
    checkpoint_.add("trainer", trainer_);
    checkpoint_.add("data", learner_->position());
    checkpoint_.add("pruning", pruning_);
    checkpoint_.add("best", best_);
    if (folder_.resumes()) checkpoint_.load(folder_.checkpoint());
  }

  /// Returns the exit code.
  int run() {
    const StopSignals signals;
    MetricsLog log(folder_.metrics(), trainer_.steps());
    ProgressLine progress({.steps = settings_.steps, .title = "Learning"});
    TrainingLoop loop(settings_.steps, [&] {
      const Index tokens = learner_->next_batch();
      return trainer_.step([&](HeadProbe* probe) { return learner_->loss(probe); }, tokens);
    });
    if (settings_.prune > 0)
      loop.each([&](StepReport& report) { prune_when_due(report, progress); });
    loop.every(settings_.evaluate_every, [&](StepReport& report) { evaluate(report); });
    loop.every(10, [&](StepReport& report) { log(report); });
    loop.each([&](StepReport& report) {
      if (!report.telemetry.is_null()) log.write(report.telemetry);
    });
    loop.each(std::ref(progress));
    loop.every(settings_.save_every, [&](StepReport&) { checkpoint_.save(folder_.checkpoint()); });
    loop.at_end([&](StepReport&) { checkpoint_.save(folder_.checkpoint()); });
    const bool finished = loop.run(trainer_.steps(), &signals);
    progress.finish();
    if (!finished) {
      fmt::print("stopped at step {}; go on with: {} train --out {} --resume\n", trainer_.steps(),
                 invocation(), folder_.path().string());
      return signals.exit_code();
    }
    conclude();
    return 0;
  }

 private:
  void evaluate(StepReport& report) {
    const Record measured = learner_->evaluate();
    report.metrics.update(measured);
    // While heads go, an earlier model would win that has more of them.
    const bool all_gone =
        settings_.prune == 0 || report.step >= settings_.prune_from + settings_.prune_over;
    if (all_gone && best_.improves(measured[learner_->measure()], report.step)) {
      checkpoint_.save(folder_.best());
    }
  }

  void prune_when_due(StepReport& report, ProgressLine& progress) {
    if (report.step < settings_.prune_from) return;
    Module& model = learner_->model();
    if (pruning_.heads.empty()) {
      Sensitivity sensitivity(model);
      RemovalCost cost(model);
      model.eval();
      learner_->visit_validation(500, [&](Index examples, const Learner::Probed& loss) {
        sensitivity.add(examples, loss);
      });
      learner_->visit_validation(
          256, [&](Index examples, const Learner::Probed& loss) { cost.add(examples, loss); });
      model.train();
      pruning_.choose_from(sensitivity.scores(), cost.scores(), settings_.prune, settings_.keep);
      progress.note(fmt::format("{} of {} heads chosen at step {}, least sensitive first",
                                settings_.prune, pruning_.heads.size(), report.step));
    }
    const PruningPlan plan{{.begin = settings_.prune_from,
                            .end = settings_.prune_from + settings_.prune_over,
                            .every = std::max<Index>(1, settings_.prune_over / 20),
                            .total = settings_.prune},
                           pruning_.order()};
    const std::vector<HeadId> gone = plan.due(report.step, live_heads(model));
    optimizer_.apply(prune(model, gone));
    pruning_.removed(gone, report.step);
    report.heads_alive = static_cast<Index>(live_heads(model).size());
  }

  /// Tests the model that later commands will use, writes summary and page, says where they are.
  void conclude() {
    Module& model = learner_->model();
    if (best_.step() > 0 && best_.step() != trainer_.steps()) {
      ModelState(model).load_state(StateReader(TensorFile::read(folder_.best()), "model."));
    }
    const Record test = learner_->test();
    Record summary{{"task", settings_.task},
                   {"seed", settings_.data.seed},
                   {"steps", trainer_.steps()},
                   {"parameters", count_parameters(model)},
                   {"heads_alive", live_heads(model).size()},
                   {"best_step", best_.step() > 0 ? best_.step() : trainer_.steps()},
                   {"test", test}};
    if (!pruning_.heads.empty()) summary["heads"] = pruning_.heads;
    write_file(folder_.summary(), summary.dump(2) + "\n");
    fmt::print("{}\n", result_text(test));
    write_page();
  }

  void write_page() {
    Record page = json_of(read_run(folder_.path()));
    page["title"] = title();
    page["environment"] = environment();
    page["models"] = {name_of(settings_.model.block.layout)};
    for (Record& line : page["metrics"]) line["model"] = page["models"][0];
    if (!pruning_.heads.empty()) add_heads(page);
    write_file(folder_.path() / "records.json", page.dump() + "\n");
    try {
      write_report(run_record(page, "records"), folder_.report());
      fmt::print("{}\n", folder_.report().string());
    } catch (const FileError& error) {  // the run is whole without its page
      fmt::print(stderr, "no page: {}\n", error.what());
    }
  }

  /// What the page shows of heads: importance when they were chosen, when each went, how many
  /// lived.
  void add_heads(Record& page) const {
    const std::string layout = name_of(settings_.model.block.layout);
    page["importance_name"] = "sensitivity, E |dL/dgate|";
    page["cost_name"] = RemovalCost::in_words;
    page["heads"] = Record::array();
    std::map<Index, Index> alive{{0, static_cast<Index>(pruning_.heads.size())}};
    for (const Record& head : pruning_.heads) {
      page["heads"].push_back({{"kind", head["kind"]},
                               {"layer", head["layer"]},
                               {"head", head["head"]},
                               {"importance", {{layout, head["importance"]}}},
                               {"cost", head.value("cost", Record())},
                               {"removed_at", head["removed_at"]}});
      if (!head["removed_at"].is_null()) ++alive[head["removed_at"].get<Index>()];
    }
    Index left = 0;
    for (const auto& [step, change] : alive) {
      left = step == 0 ? change : left - change;
      page["schedule"].push_back({{"step", step}, {"alive", left}});
    }
    page["schedule"].push_back({{"step", settings_.steps}, {"alive", left}});
  }

  /// The task in words: "Written dates -> ISO dates".
  std::string title() const {
    std::string words = settings_.task;
    for (const TaskInfo& info : task_list()) {
      if (info.name == settings_.task) words = info.summary;
    }
    words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
    return words;
  }

  std::string result_text(const Record& test) const {
    std::string text = "test:";
    for (const auto& [name, value] : test.items()) {
      const bool share =
          std::any_of(quality_measures.begin(), quality_measures.end(),
                      [&key = name](const Measure& measure) { return measure.key == key; });
      text += share ? fmt::format("  {} {:.2f} %", name, 100 * value.get<double>())
                    : fmt::format("  {} {:.4f}", name, value.get<double>());
    }
    return text;
  }

  TrainSettings settings_;
  RunFolder folder_;
  std::unique_ptr<Learner> learner_;
  AdamW optimizer_;
  Trainer trainer_;
  HeadTelemetry telemetry_;
  PruningState pruning_;
  BestSoFar best_;
  Checkpoint checkpoint_;
};

/// Throws now what would stop the run when heads are chosen.
void require_prunable(const TrainSettings& settings) {
  const Index attentions =
      settings.model.layers * (settings.model.kind == ModelKind::seq2seq ? 3 : 1);
  const Index most = attentions * std::max<Index>(0, settings.model.block.heads - settings.keep);
  if (settings.prune > most) {
    throw UsageError(
        fmt::format("--prune {}: at most {} heads can go from {} attentions of {} that keep {}",
                    settings.prune, most, attentions, settings.model.block.heads, settings.keep));
  }
}

struct TrainCommandOptions {
  TrainOptions settings;
  std::string out;
  bool resume = false, force = false;
};

int train(const TrainCommandOptions& options) {
  if (options.resume && options.force) throw UsageError("--resume and --force exclude each other");
  if (options.resume) {
    const std::string given = options.settings.first_given();
    if (!given.empty()) {
      throw UsageError(
          fmt::format("{} cannot be given with --resume: a run goes on as it began", given));
    }
    const std::filesystem::path path = model_folder(options.out);
    RunFolder folder(path, IfExists::resume);
    TrainSettings settings =
        TrainSettings::from_record(folder.read_config(), folder.config().string());
    Task task = make_task(settings.task, settings.data);
    return TrainingRun(std::move(settings), std::move(task), std::move(folder)).run();
  }
  TrainSettings settings = options.settings.settings();
  Task task = make_task(settings.task, settings.data);  // bad data leaves no folder behind
  settings.model = fitted_to(task, settings.model, settings.learner);
  require_prunable(settings);
  if (const auto* pairs = std::get_if<Seq2SeqTask>(&task); pairs && pairs->skipped.total() > 0) {
    fmt::print(stderr, "{}\n", pairs->skipped.text());
  }
  if (settings.data.data.is_relative() && !settings.data.data.empty()) {
    settings.data.data = std::filesystem::absolute(settings.data.data);
  }
  RunFolder folder = options.out.empty() ? RunFolder::fresh("runs", settings.task)
                                         : RunFolder(options.out, options.force ? IfExists::force
                                                                                : IfExists::refuse);
  folder.write_config(settings.to_record());
  fmt::print("{}\n", folder.path().string());
  return TrainingRun(std::move(settings), std::move(task), std::move(folder)).run();
}

}  // namespace

Command add_train(CLI::App& program) {
  CLI::App* app = program.add_subcommand("train", "train a model on a task");
  const auto options = std::make_shared<TrainCommandOptions>();
  options->settings.add_to(*app);
  app->add_option("--out", options->out, "DIR of the run (default: a new one under runs/)");
  app->add_flag("--resume", options->resume, "go on with the run in --out (default: the newest)");
  app->add_flag("--force", options->force, "replace the run in --out");
  add_threads(*app);
  app->footer(
      fmt::format("{1}\n\n"
                  "Examples: {0} train --task reverse\n"
                  "          {0} train --task g2p --data PATH --prune 12\n"
                  "          {0} train --out runs/g2p-1 --resume",
                  invocation(), TrainOptions::recipes()));
  return {app, [options] { return train(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
