// The benchmark of a training step.
#include <algorithm>

#include "cli/bench.hpp"
#include "cli/machine_speed.hpp"
#include "headroom/array/pool.hpp"
#include "headroom/base/op_scope.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/optim/adam.hpp"

namespace headroom::inline HEADROOM_PRECISION {

namespace {

/// Floating-point operations of a step: 6 per parameter and token, and attention's scores and
/// averages, whose masked half counts too.
double step_flops(const BenchCase& c, Index parameters) {
  const auto n = static_cast<double>(parameters), tokens = static_cast<double>(c.tokens());
  return 6 * n * tokens + 12 * static_cast<double>(c.layers * c.width * c.length) * tokens;
}

/// Where a step's time goes, by operation. `of_machine` is the share of the machine's speed that an
/// operation reaches: the time that its arithmetic or its memory traffic needs at least, whichever
/// is more, over the time it took.
Record profile_of(const std::function<void()>& step, Index steps) {
  const double flops_per_ms = product_speed(1024) * 1e6, bytes_per_ms = memory_speed() * 1e6;
  set_profiling(true);
  const Times times = time_work(0, steps, step);
  set_profiling(false);
  const auto count = static_cast<double>(steps);
  Record rows = Record::array();
  const auto add = [&](const std::string& name, double calls, double ms, double flops,
                       double bytes) {
    rows.push_back({{"operation", name},
                    {"calls", calls},
                    {"ms", ms},
                    {"share", ms / times.mean},
                    {"gflops", flops / ms / 1e6},
                    {"gbs", bytes / ms / 1e6},
                    {"of_machine", std::max(flops / flops_per_ms, bytes / bytes_per_ms) / ms}});
  };
  double elsewhere = times.mean;
  for (const ProfileRow& row : profile()) {
    const double ms = 1e3 * row.seconds / count;
    elsewhere -= ms;
    add(row.name + (row.pass == Pass::backward ? ", backward" : ""),
        static_cast<double>(row.calls) / count, ms, row.flops / count, row.bytes / count);
  }
  add("between operations", 0, elsewhere, 0, 0);
  return rows;
}

}  // namespace

BenchStep::BenchStep(const BenchCase& bench_case, const BenchOptions& options)
    : model_(bench_case.model(layout_from(options.layout)), rng_),
      optimizer_(model_),
      inputs_(random_ids(bench_case.batch, bench_case.length, bench_case.symbols)),
      targets_(inputs_.clone()) {}

void BenchStep::operator()() {
  optimizer_.zero_grad();
  cross_entropy(model_(inputs_), targets_).backward();
  optimizer_.step(1e-3);
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
                   {"tok_s", static_cast<double>(bench_case.tokens()) / times.median * 1e3},
                   {"gflops", step_flops(bench_case, parameters) / times.median / 1e6},
                   {"peak_bytes", pool_statistics().peak}};
  if (options.profile) result["profile"] = profile_of(std::ref(step), steps);
  return result;
}

}  // namespace headroom::inline HEADROOM_PRECISION
