// `headroom bench heads`: how much faster an attention and a layer get when heads are removed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/bench/bench.hpp"
#include "headroom/base/terminal.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// One model under measurement: some heads removed, or as many switched off by gates of 0.
struct HeadsVariant {
  Index kept = 0;
  bool masked = false;
};

/// One line of a table: the same work at one batch size. Vectors are by variant.
struct HeadsLine {
  Index batch = 0;
  std::vector<double> ms;  // medians of interleaved runs
};

/// The times of one part of a model, for one pass and number of threads.
struct HeadsTable {
  std::string part, pass;  // "attention" or "layer"; "forward" or "training step"
  int threads = 1;
  std::vector<HeadsVariant> variants;  // the first has all heads
  /// Arithmetic of all heads divided by that of the variant: the highest speed-up possible.
  std::vector<double> ceiling;
  std::vector<HeadsLine> lines;

  /// Whether the speed-up of a variant in a line is beyond_arithmetic(): noise.
  bool noisy(const HeadsLine& line, std::size_t variant) const;
};

/// Sizes of the layer that is measured.
struct HeadsSizes {
  Index width = 128, heads = 8, length = 256;
};

/// Measures all parts, passes and numbers of threads, and hands over each table when it is
/// complete. A training step consists of forward pass, backward pass and AdamW's update. The number
/// of threads is `threads`, or 1 and 2 if that is 0, and as before afterwards. Lines with a noisy
/// speed-up are measured a second time.
void bench_heads(const HeadsSizes& sizes, const BenchOptions& options, int threads,
                 const std::function<void(const HeadsTable&)>& see);

/// The table for people: the time with all heads, then the speed-up of each variant, or "noisy".
std::string heads_table_text(const HeadsTable& table, const TerminalStyle& style);
Record heads_table_record(const HeadsTable& table, const HeadsSizes& sizes);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
