// The benchmark of removed heads.
#include "cli/bench/bench_heads.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/timing/interleaved.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/transformer.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom_lab/blocks/table.hpp"
#include "headroom_lab/report/report_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

enum class Part { attention, layer };
enum class Work { forward, training_step };

/// Multiplications and additions of a forward pass per token, of the matrix products alone: four
/// projections, scores and averages of the kept heads, and the layer's feed-forward. A training
/// step has three times as many, so that the ratio is the same.
double flops_per_token(Part part, const BlockConfig& block, Index length, Index kept) {
  const auto width = double(block.width), features = double(kept * (block.width / block.heads));
  const double attention = 8 * width * features + 4 * double(length) * features;
  return part == Part::attention ? attention : attention + 16 * width * width;
}

/// A layer, or only its attention, with some heads removed or masked, ready to be run.
class Subject {
 public:
  Subject(Part part, const BlockConfig& block, const HeadsVariant& variant)
      : part_(part), layer_(block, rng_) {
    Attention& attention = layer_.self_attn();
    std::vector<Index> others;
    for (Index h = variant.kept; h < block.heads; ++h) others.push_back(h);
    if (variant.masked) {
      Array gates = ones({block.heads});
      for (const Index h : others) gates[h] = 0;
      probe_.gates[attention.location()] = constant(gates);
    } else {
      attention.prune(others);
    }
    if (part_ == Part::layer) {
      optimizer_.emplace(layer_);
    } else {
      optimizer_.emplace(attention);
    }
  }

  void forward(const Tensor& x) {
    const NoGrad quiet;
    layer_.eval();
    run(x);
  }

  /// As in the middle of a model: the input takes part in the backward pass.
  void training_step(const Tensor& x, const Tensor& weights) {
    layer_.train();
    optimizer_->zero_grad();
    Tensor input = x;
    input.zero_grad();
    sum(run(input) * weights).backward();
    optimizer_->step(1e-4);
  }

 private:
  Tensor run(const Tensor& x) {
    probe_.seen.clear();
    if (part_ == Part::layer) return layer_(x, AttentionMask::none(), &probe_);
    return attend(layer_.self_attn(), x, x, AttentionMask::none(), &probe_, nullptr);
  }

  Rng rng_{0, "init"};
  Part part_;
  EncoderLayer layer_;
  std::optional<AdamW> optimizer_;
  HeadProbe probe_;
};

Tensor normal_input(Rng& rng, const Shape& shape) {
  Array values(shape);
  for (Real& value : values.span()) value = rng.normal();
  return Tensor(values, true);
}

/// All heads, three quarters, a half and a quarter of them, and a half of them masked.
std::vector<HeadsVariant> variants_of(Index heads) {
  std::vector<HeadsVariant> variants{{heads, false}};
  for (const Index quarters : {3, 2, 1}) {
    const Index kept = heads * quarters / 4;
    if (kept > 0 && kept < variants.back().kept) variants.push_back({kept, false});
  }
  if (heads > 1) variants.push_back({heads / 2, true});
  return variants;
}

HeadsTable measured(Part part, Work pass, const HeadsSizes& sizes, const BenchOptions& options) {
  const BlockConfig block{.width = sizes.width,
                          .heads = sizes.heads,
                          .activation = Activation::gelu,
                          .layout = layout_from(options.layout, "--layout")};
  HeadsTable table{.part = part == Part::attention ? "attention" : "layer",
                   .pass = pass == Work::forward ? "forward" : "training step",
                   .threads = num_threads(),
                   .variants = variants_of(sizes.heads),
                   .ceiling = {},
                   .lines = {}};
  std::vector<std::unique_ptr<Subject>> subjects;
  const double all = flops_per_token(part, block, sizes.length, sizes.heads);
  for (const HeadsVariant& variant : table.variants) {
    subjects.push_back(std::make_unique<Subject>(part, block, variant));
    const Index computed = variant.masked ? sizes.heads : variant.kept;
    table.ceiling.push_back(all / flops_per_token(part, block, sizes.length, computed));
  }
  std::vector<Index> batches = {1, 4, 16, 64};
  if (options.batch > 0) batches = {options.batch};
  for (const Index batch : batches) {
    Rng rng(0, "bench");
    const Shape shape{batch, sizes.length, sizes.width};
    const Tensor x = normal_input(rng, shape), weights = constant(normal_input(rng, shape).value());
    std::vector<std::function<void()>> works;
    for (const auto& subject : subjects) {
      works.emplace_back([&x, &weights, &one = *subject, pass] {
        pass == Work::forward ? one.forward(x) : one.training_step(x, weights);
      });
    }
    const Index turns = options.steps > 0 ? options.steps : 9;
    table.lines.push_back(
        {batch, measured_again([&] { return interleaved_medians(turns, works); }, table.ceiling)});
  }
  return table;
}

}  // namespace

void bench_heads(const HeadsSizes& sizes, const BenchOptions& options, int threads,
                 const std::function<void(const HeadsTable&)>& see) {
  const int before = num_threads();
  std::vector<int> counts = {1, 2};
  if (threads > 0) counts = {threads};
  for (const int count : counts) {
    set_num_threads(count);
    for (const Part part : {Part::attention, Part::layer}) {
      for (const Work pass : {Work::forward, Work::training_step}) {
        see(measured(part, pass, sizes, options));
      }
    }
  }
  set_num_threads(before);
}

bool HeadsTable::noisy(const HeadsLine& line, std::size_t variant) const {
  return beyond_arithmetic(line.ms[0] / line.ms[variant], ceiling[variant]);
}

std::string heads_table_text(const HeadsTable& table, const TerminalStyle& style) {
  Table text{.columns = {"batch", fmt::format("{} heads", table.variants.front().kept)}};
  for (std::size_t i = 1; i < table.variants.size(); ++i) {
    const HeadsVariant& variant = table.variants[i];
    text.columns.push_back(variant.masked ? fmt::format("{} masked", variant.kept)
                                          : fmt::format("{} heads", variant.kept));
  }
  const auto times = [](double speed_up) { return fmt::format("{:.2f} x", speed_up); };
  bool noisy = false;
  for (const HeadsLine& line : table.lines) {
    std::vector<Value>& row = text.rows.emplace_back(1, fmt::format("{}", line.batch));
    row.push_back(fmt::format("{:.2f} ms", line.ms.front()));
    for (std::size_t i = 1; i < line.ms.size(); ++i) {
      row.push_back(table.noisy(line, i) ? "noisy" : times(line.ms[0] / line.ms[i]));
      noisy = noisy || table.noisy(line, i);
    }
  }
  std::vector<Value> last{"ceiling", ""};
  for (std::size_t i = 1; i < table.ceiling.size(); ++i) last.push_back(times(table.ceiling[i]));
  text.rows.push_back(last);
  return fmt::format(
      "{}, {}, {} {}\n{}{}", table.part, table.pass, table.threads,
      table.threads == 1 ? "thread" : "threads", table_text(text, style),
      noisy ? "noisy: more than 10 % above the ceiling, also when measured again\n" : "");
}

Record heads_table_record(const HeadsTable& table, const HeadsSizes& sizes) {
  Record variants = Record::array(), lines = Record::array();
  for (std::size_t i = 0; i < table.variants.size(); ++i) {
    variants.push_back({{"kept", table.variants[i].kept},
                        {"masked", table.variants[i].masked},
                        {"ceiling", table.ceiling[i]}});
  }
  for (const HeadsLine& line : table.lines) {
    Record noisy = Record::array();
    for (std::size_t i = 0; i < line.ms.size(); ++i) noisy.push_back(table.noisy(line, i));
    lines.push_back({{"batch", line.batch}, {"ms", line.ms}, {"noisy", noisy}});
  }
  return {{"part", table.part},   {"pass", table.pass},   {"threads", table.threads},
          {"width", sizes.width}, {"heads", sizes.heads}, {"length", sizes.length},
          {"variants", variants}, {"lines", lines}};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
