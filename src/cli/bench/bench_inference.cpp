// The benchmarks of inference: generating with a cache, and an encoder's forward pass.
#include <algorithm>

#include "cli/bench/bench.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/nn/decoding.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index longest_prompt = 16;

/// The most likely next token of every sequence, [B, 1].
Ids likeliest(const Array& logits) {
  const Index batch = logits.dim(0), tokens = logits.dim(1);
  Ids ids({batch, 1});
  for (Index b = 0; b < batch; ++b) {
    const Real* row = logits.data() + b * tokens;
    ids[b] = static_cast<std::int32_t>(std::max_element(row, row + tokens) - row);
  }
  return ids;
}

}  // namespace

Record bench_generate(const BenchCase& bench_case, const BenchOptions& options) {
  Rng rng(0, "init");
  LanguageModel model(bench_case.model(layout_from(options.layout, "--layout")), rng);
  model.eval();
  const Index batch = options.batch > 0 ? options.batch : 1;
  const Index prompt_length = std::min(longest_prompt, bench_case.length / 2);
  const Index written = bench_case.length - prompt_length;
  const Ids prompt = random_ids(batch, prompt_length, bench_case.vocabulary);
  const NoGrad no_grad;
  const auto write = [&] {
    const auto writer = make_writer(model, batch);
    Ids ids = prompt;
    for (Index i = 0; i < written; ++i) ids = likeliest(writer->next(ids));
  };
  const Index repetitions = options.steps > 0 ? options.steps : 6;
  const Times times = time_work(1, repetitions, write);
  Record result = {{"params", count_parameters(model)},
                   {"batch", batch},
                   {"tok_s", double(batch * written) / times.median * 1e3},
                   {"ms", times.median},
                   {"min_ms", times.least}};
  if (options.profile) result["profile"] = profile_of(repetitions, write);
  return result;
}

Record bench_encode(const BenchCase& bench_case, const BenchOptions& options) {
  Rng rng(0, "init");
  BlockConfig block = bench_case.block(layout_from(options.layout, "--layout"));
  block.norm_first = false;
  Encoder encoder(block, bench_case.layers, /*last_norm=*/false, rng);
  encoder.eval();
  const Index batch = options.batch > 0 ? options.batch : 1;
  Array values({batch, bench_case.length, bench_case.width});
  for (Real& value : values.span()) value = rng.normal();
  const Tensor x(values);
  const NoGrad no_grad;
  const auto encode = [&] { encoder(x, AttentionMask::none()); };
  const Index repetitions = options.steps > 0 ? options.steps : 10;
  const Times times = time_work(2, repetitions, encode);
  Record result = {{"params", count_parameters(encoder)},
                   {"batch", batch},
                   {"ms", times.median},
                   {"min_ms", times.least}};
  if (options.profile) result["profile"] = profile_of(repetitions, encode);
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
