// A training run of your own: saved, resumed, measured, pruned, and shown on a page.
// usage: training_run [FOLDER=runs/mine] [STEPS=800]; after Ctrl-C the same command resumes it
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "headroom_lab/report/report.hpp"
#include "headroom_runs/records/head_records.hpp"
#include "headroom_runs/runs/progress.hpp"
#include "headroom_runs/runs/pruning_parts.hpp"
#include "headroom_runs/runs/training_run.hpp"

using namespace headroom;

int main(int argc, char** argv) {
  const Index steps = argc > 2 ? std::atol(argv[2]) : 800;
  TrainingSettings settings;  // the task is "dates"
  settings.model.block = {.width = 64, .heads = 4, .hidden = 256};
  settings.rate = {.shape = RateShape::cosine, .peak = 4e-3, .warmup = steps / 20};
  settings.steps = steps;
  settings.evaluate_every = settings.save_every = steps / 8;
  settings.derive();

  TrainingRun run(settings, make_task(settings.task, settings.data));
  const Gradual pace{steps / 2, 3 * steps / 4, std::max<Index>(1, steps / 80)};
  PruningParts pruning(run, {.chooser = "sensitivity", .remove = 12, .pace = pace});
  ProgressLine progress({.steps = steps});
  run.each(std::ref(progress));
  run.keep_in(RunFolder(argc > 1 ? argv[1] : "runs/mine", IfExists::resume_or_start));

  const StopSignals signals;
  if (!run.run(&signals)) return signals.exit_code();
  const Record summary = run.conclude();
  std::printf("%s\n", summary.dump(2).c_str());
  ReportRecord page = read_run(run.folder().path());
  add_history(page, pruning.history(), "fused", steps);
  if (!find_chart_js().empty()) write_report(page, run.folder().report());
  return summary["heads_alive"] == 12 ? 0 : 1;
}
