// The benchmark of a training step.
#include <string>

#include "cli/bench/bench.hpp"
#include "headroom/array/pool.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/optim/adam.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Floating-point operations of a step: 6 per parameter and token, and attention's scores and
/// averages, whose masked half counts too.
double step_flops(const BenchCase& c, Index parameters) {
  const auto n = double(parameters), tokens = double(c.tokens());
  return 6 * n * tokens + 12 * double(c.layers * c.width * c.length) * tokens;
}

}  // namespace

BenchStep::BenchStep(const BenchCase& bench_case, const BenchOptions& options)
    : model_(bench_case.model(layout_from(options.layout, "--layout")), rng_),
      optimizer_(model_),
      telemetry_(model_, options.telemetry),
      inputs_(random_ids(bench_case.batch, bench_case.length, bench_case.vocabulary)),
      targets_(inputs_.clone()) {}

void BenchStep::operator()() {
  HeadProbe probe;
  telemetry_.begin(++steps_, probe);
  optimizer_.zero_grad();
  cross_entropy(model_(inputs_, &probe), targets_).backward();
  telemetry_.after_backward();
  optimizer_.step(1e-3);
  StepReport report;
  telemetry_.after_update(report);
}

Record bench_step(const BenchCase& bench_case, const BenchOptions& options) {
  BenchStep step(bench_case, options);
  for (int i = 0; i < 3; ++i) step();
  reset_pool_peak();
  const Index steps = options.steps > 0 ? options.steps : 20;
  const Times times = time_work(0, steps, std::ref(step));
  const Index parameters = step.parameters();
  Record result = {{"params", parameters},
                   {"ms", times.median},
                   {"min_ms", times.least},
                   {"tok_s", double(bench_case.tokens()) / times.median * 1e3},
                   {"gflops", step_flops(bench_case, parameters) / times.median / 1e6},
                   {"peak_bytes", pool_statistics().peak}};
  if (options.profile) result["profile"] = profile_of(steps, std::ref(step));
  if (options.profile && options.telemetry > 0) {
    double share = 0;
    for (const Record& row : result["profile"]) {
      const std::string operation = row["operation"];
      if (operation == "telemetry" || operation == "attention rows") {
        share += row["share"].get<double>();
      }
    }
    result["telemetry_share"] = share;
  }
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
