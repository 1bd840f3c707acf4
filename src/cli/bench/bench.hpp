// The common part of the benchmarks: the four models, and statistics of times.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "headroom/base/record_json.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom_runs/runs/telemetry.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A decoder-only language model and the batch it is trained with: pre-norm, GELU (erf), learned
/// positions, output tied to the embedding, no dropout.
struct BenchCase {
  const char* name;
  Index layers, heads, width, length, batch, vocabulary;

  BlockConfig block(Layout layout) const;
  ModelConfig model(Layout layout) const;
  Index tokens() const { return batch * length; }
};

/// nano (nanoGPT's CPU recipe), small, medium, base.
const std::vector<BenchCase>& bench_cases();

struct BenchOptions {
  std::string layout = "fused";
  Index steps = 0;  // timed repetitions; 0: the benchmark's default
  // Sizes that replace the case's, to see how time and memory grow with them; 0: the case's. The
  // batch defaults to 1 where nothing is trained.
  Index layers = 0, heads = 0, width = 0, length = 0, batch = 0;
  Index telemetry = 0;   // training steps between measurements of every head; 0: none
  bool profile = false;  // measure the time of each operation
};

/// Times of repeated work, in milliseconds.
struct Times {
  double median = 0, least = 0, mean = 0;
};
/// Runs the work untimed at least `warm_up` times and for at least 0.2 s, in which the system
/// spreads the threads over the processors (0: no warm-up). Then times `repetitions` runs.
Times time_work(Index warm_up, Index repetitions, const std::function<void()>& work);

/// Profiles repeated work by operation: a list of rows with the keys operation, calls and ms (both
/// per repetition), share, gflops, gbs and of_machine. The last one is the share of the machine's
/// speed that an operation reaches: the minimum time for its arithmetic or for its memory traffic,
/// whichever is larger, divided by its measured time.
Record profile_of(Index repetitions, const std::function<void()>& work);

/// ids [batch, length] below `tokens`, the same at every call.
Ids random_ids(Index batch, Index length, Index tokens);

/// A case's model, its batch of random tokens and its optimizer; calling it is one training step.
class BenchStep {
 public:
  BenchStep(const BenchCase& bench_case, const BenchOptions& options);
  void operator()();
  Index parameters() { return count_parameters(model_); }

 private:
  Rng rng_{0, "init"};
  LanguageModel model_;
  AdamW optimizer_;
  HeadTelemetry telemetry_;
  Index steps_ = 0;
  Ids inputs_, targets_;
};

/// A training step: forward, backward, AdamW. Keys case, params, threads, layout, blas, ms, min_ms,
/// tok_s, gflops, peak_bytes. A profile adds the key profile; a profile with telemetry adds
/// telemetry_share, the share of the step time that telemetry takes.
Record bench_step(const BenchCase& bench_case, const BenchOptions& options);
/// working_bytes: peak resident memory of four training steps without weights, gradients and both
/// moments. parameter_bytes: size of these. Throws FileError where the system does not report
/// memory.
Record bench_memory(const BenchCase& bench_case, const BenchOptions& options);
/// Greedy generation with a key/value cache, from a prompt of 16 tokens to the case's length:
/// tok_s.
Record bench_generate(const BenchCase& bench_case, const BenchOptions& options);
/// The forward pass of a post-norm encoder of the case's sizes, without gradients: ms.
Record bench_encode(const BenchCase& bench_case, const BenchOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
