// A model and its weights in half precision.
#include "headroom_runs/records/model_record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/half.hpp"
#include "headroom/base/names.hpp"
#include "headroom/io/base64.hpp"
#include "headroom/surgery/transplant.hpp"
#include "records/forward_once.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace model_recording {
namespace {

constexpr Index bytes_of_half = 2;

std::uint16_t checked_half(Real value, const std::string& name) {
  const std::uint16_t bits = half_bits(double(value));
  if (std::isfinite(half_number(bits))) return bits;
  throw NumericError(fmt::format("{} has the value {:.3g}, which is too large for half precision",
                                 name, double(value)));
}

HalfTensor halves(const NamedParameter& parameter) {
  const Array& values = parameter.tensor.value();
  std::vector<std::byte> bytes;
  for (const Real value : values.span()) {
    const std::uint16_t bits = checked_half(value, parameter.name);
    bytes.push_back(static_cast<std::byte>(bits & 0xFF));
    bytes.push_back(static_cast<std::byte>(bits >> 8));
  }
  return {parameter.name, {values.shape().begin(), values.shape().end()}, base64(bytes)};
}

AttentionLayout attention_layout(const NamedAttention& found, Index longest) {
  const Attention& attention = *found.attention;
  AttentionLayout layout{.path = found.name,
                         .kind = found.location().kind,
                         .layer = found.location().layer,
                         .head_dim = attention.head_dim(),
                         .alive = {attention.alive().begin(), attention.alive().end()},
                         .slices = attention.head_slices()};
  const NoGrad no_tape;
  const Tensor bias = attention.score_bias(longest, longest, 0);
  if (bias.defined()) {
    layout.score_bias = halves({found.name + ".score_bias", bias});
    layout.score_bias->name.clear();  // it is no parameter
  }
  return layout;
}

/// The reason why a page cannot compute this model, or "".
std::string beyond_pages(Module& model, Index longest) {
  const NoGrad no_tape;
  for (const NamedAttention& found : attentions(model)) {
    std::set<std::string> known;
    for (const HeadSlice& slice : found.attention->head_slices()) {
      const bool projection = slice.role <= HeadRole::value_bias;
      if (projection && slice.length() != found.attention->head_dim()) continue;
      if (slice.role != HeadRole::extra) known.insert(slice.name);
    }
    for (const NamedParameter& parameter : parameters(*found.attention)) {
      if (known.contains(parameter.name)) continue;
      return fmt::format("pages cannot compute {}, because of its parameter {}",
                         found.attention->title(), parameter.name);
    }
    const Tensor bias = found.attention->score_bias(longest, longest, 0);
    if (bias.defined() && bias.rank() == 4) {
      return fmt::format("pages cannot compute {}, whose score bias differs between examples",
                         found.attention->title());
    }
  }
  const ModelConfig* config = config_of(model);
  const bool plain = config == nullptr || (config->variant == ModelVariant() &&
                                           config->positions != PositionKind::sinusoidal_halves);
  return plain ? "" : "pages cannot compute the parts of a model that another program made";
}

/// Elements of the score biases that a page carries as tables.
Index count_score_biases(Module& model, Index longest) {
  const NoGrad no_tape;
  Index count = 0;
  for (const NamedAttention& found : attentions(model)) {
    const Tensor bias = found.attention->score_bias(longest, longest, 0);
    if (bias.defined()) count += bias.size();
  }
  return count;
}

/// Logits with seven decimals, a thousand times finer than the tolerance of a page's results.
std::vector<std::vector<double>> logit_rows(const Array& logits) {
  std::vector<std::vector<double>> rows;
  for (Index r = 0; r < logits.dim(0); ++r) {
    std::vector<double>& row = rows.emplace_back();
    for (Index i = 0; i < logits.dim(1); ++i) {
      row.push_back(std::round(double(logits[r * logits.dim(1) + i]) * 1e7) / 1e7);
    }
  }
  return rows;
}

}  // namespace
}  // namespace model_recording

void round_to_half(Module& model) {
  using namespace model_recording;
  for (NamedParameter& parameter : parameters(model)) {
    Array rounded = parameter.tensor.value().clone();
    for (Real& value : rounded.span()) {
      value = Real(half_number(checked_half(value, parameter.name)));
    }
    parameter.tensor.set_value(std::move(rounded));
  }
}

ModelRecord model_record(const SavedModel& saved) {
  using namespace model_recording;
  ModelRecord record{.config = saved.config};
  for (const char* name : {"source", "target", "tokens"}) {
    if (saved.about.is_object() && saved.about.contains(name)) {
      record.vocabularies[name] = saved.vocabulary(name).record();
    }
  }
  if (saved.about.is_object() && saved.about.contains("classes")) {
    record.classes = saved.about["classes"];
  }
  for (const NamedParameter& parameter : parameters(*saved.model)) {
    record.parameters.push_back(halves(parameter));
  }
  for (const NamedAttention& found : attentions(*saved.model)) {
    record.attentions.push_back(attention_layout(found, saved.config.longest));
  }
  return record;
}

ModelRecord page_model_record(const SavedModel& saved, const ExampleIds& seen, Index most_bytes) {
  using namespace model_recording;
  const auto left_out = [](std::string why) { return ModelRecord{.left_out = std::move(why)}; };
  const Index longest = saved.config.longest;
  const Index bytes =
      bytes_of_half * (count_parameters(*saved.model) + count_score_biases(*saved.model, longest));
  const auto megabytes = [](Index n) { return double(n) / 1e6; };
  if (bytes > most_bytes) {
    return left_out(
        fmt::format("its weights take {:.1f} MB even in half precision, more than "
                    "the {:.1f} MB that a page carries",
                    megabytes(bytes), megabytes(most_bytes)));
  }
  if (const std::string why = beyond_pages(*saved.model, longest); !why.empty()) {
    return left_out(why);
  }
  if (saved.about.is_object() && saved.about.contains("folder")) {
    return left_out("pages cannot split texts with the tokenizer of another program");
  }
  const OneSequence sequence{seen.source, seen.target_in};
  const Array own = forward_once(*saved.model, sequence);
  ModelRecord record;
  try {
    record = model_record(saved);
    round_to_half(*saved.model);
  } catch (const NumericError& error) {
    return left_out(error.what());
  }
  const Array rounded = forward_once(*saved.model, sequence);
  record.logits = logit_rows(rounded);
  record.rounding = largest_difference(own, rounded);
  return record;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
