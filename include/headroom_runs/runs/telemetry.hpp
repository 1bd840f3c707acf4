// HeadTelemetry: measures every head on some of the training steps.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "headroom/optim/parameter_blocks.hpp"
#include "headroom/train/step_part.hpp"
#include "headroom_runs/runs/run_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Measurements of one head at one step. The four blocks are the head's rows of W_Q, W_K, W_V and
/// its columns of W_O, in this order; SharedHead's one W_Q, W_K, W_V counts for each of its heads,
/// and so does the key of a group of heads.
/// Biases are left out: the key bias has no effect, and Adam moves it by its rounding noise.
struct HeadReading {
  HeadId head;
  /// |dL/dW|, the Frobenius norm of each block's gradient, before clipping.
  std::array<double, 4> gradient_norm{};
  /// dL/dg_h at g_h = 1: negative where the loss would fall if the head's output grew. See
  /// gate_gradients().
  double gate_gradient = 0;
  /// Mean of -sum_j P_j log P_j / log n over the queries that may attend to n >= 2 keys: 0 when all
  /// weight is on one key, 1 when it is uniform. NaN when there is no such query.
  double entropy = 0;
  /// Mean of max_j P_j over the queries that may attend to a key; Voita et al. 2019, section 4. NaN
  /// when there is none.
  double confidence = 0;
  /// |W after the step - W before| / |W before| of each block, whatever the optimizer did. NaN or
  /// infinite for a block that was 0, NaN if another part removed or swapped heads of the
  /// parameter after the update.
  std::array<double, 4> update_ratio{};
};

/// Measures every live head at steps every, 2 every, 3 every, ... Nothing that it does changes a
/// bit of the training. On these steps it costs the attention scores once more ("attention rows" in
/// the profile) and two passes over the attentions' parameters ("telemetry").
class HeadTelemetry : public StepPart {
 public:
  /// `every` 0: never. The model must outlive it. Throws UsageError for a negative number.
  HeadTelemetry(Module& model, Index every);

  /// Asks for row statistics if the step is measured.
  void begin(Index step, HeadProbe& probe) override;
  /// Throws UsageError when the forward pass was not given the probe.
  void after_backward() override;
  /// Adds line() to the report if the step is measured.
  void after_update(StepReport& report) override;

  /// The readings of the last measured step, in the order of live_heads().
  const std::vector<HeadReading>& readings() const { return readings_; }

  /// The readings with six significant digits, as a line of metrics.jsonl.
  static TelemetryLine line(Index step, const std::vector<HeadReading>& readings);

 private:
  /// A block of a head: part of a parameter.
  struct Block {
    std::size_t reading, role;
    std::string owner;  // HeadSlice::owner_text()
    Tensor parameter;
    BlockPart part;
    Array before;  // the parameter's value before the update; one copy for all of its blocks
  };
  void find_blocks();
  void read_rows();
  /// Calls visit(block, its reading) for all blocks, in parallel.
  template <class Visit>
  void for_each_block(Visit visit);

  Module* model_;
  Index every_, step_ = 0;            // step_ 0: this step is not measured
  const HeadProbe* probe_ = nullptr;  // of the step that is measured
  std::vector<HeadReading> readings_;
  std::vector<Block> blocks_;
  Index elements_ = 0;  // of all blocks together
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
