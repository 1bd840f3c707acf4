// A small model as a record with its weights in half precision, so that a page can carry it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headroom/io/fields.hpp"
#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Rounds every parameter to the nearest value in half precision (base/half.hpp). Throws
/// NumericError naming the parameter that holds a value beyond 65,504.
void round_to_half(Module& model);

/// A tensor in half precision: little-endian bytes, row by row, in base64.
struct HalfTensor {
  std::string name{};  // of a parameter
  std::vector<Index> shape{};
  std::string half{};
  using T = HalfTensor;
  using Fields = Listed<if_any<&T::name>, &T::shape, &T::half>;
};

/// Where the heads of an attention are in its parameters, so that a reader does not depend on the
/// layout.
struct AttentionLayout {
  std::string path{};  // "encoder.layers.0.self_attn"
  AttentionKind kind = AttentionKind::encoder_self;
  Index layer = 0, head_dim = 0;
  std::vector<Index> alive{};
  std::vector<HeadSlice> slices{};         // Attention::head_slices()
  std::optional<HalfTensor> score_bias{};  // of the original heads: slopes [H] or a table
                                           // [H, longest, longest]
  using T = AttentionLayout;
  using Fields = Listed<&T::path, &T::kind, &T::layer, &T::head_dim, &T::alive, &T::slices,
                        if_any<&T::score_bias>>;
};

/// Everything that is needed to compute the model's forward pass. Vocabularies and classes are JSON
/// of the checkpoint, which the page's script reads as it is.
struct ModelRecord {
  std::optional<ModelConfig> config{};
  std::map<std::string, Record> vocabularies{};  // "source", "target" or "tokens"
  Record classes{};                              // names, of a classifier
  std::vector<HalfTensor> parameters{};          // a tied one once, under the first of its names
  std::vector<AttentionLayout> attentions{};
  // The following are set in a page's model only.
  std::vector<std::vector<double>> logits{};  // [rows][tokens] of the rounded model
  std::optional<double> rounding{};  // max |difference| of a logit from the unrounded model's
  std::string left_out{};            // the reason why all of it is missing
  using T = ModelRecord;
  using Fields = Listed<if_any<&T::config>, if_any<&T::vocabularies>, if_any<&T::classes>,
                        if_any<&T::parameters>, if_any<&T::attentions>, if_any<&T::logits>,
                        if_any<&T::rounding>, if_any<&T::left_out>>;
};

/// The tokens of an example as numbers.
struct ExampleIds {
  Tokens source{}, target_in{}, target{};
  using T = ExampleIds;
  using Fields = Listed<&T::source, &T::target_in, &T::target>;
};

/// Throws as round_to_half().
ModelRecord model_record(const SavedModel& saved);

/// The same, with the effect of rounding the weights on the example whose tokens are given. The
/// model stays rounded. Returns only `left_out` for a model of more than `most_bytes` bytes of
/// halves, with weights beyond their range, with parameters that are particular to a layout, or
/// with the tokenizer of another program.
ModelRecord page_model_record(const SavedModel& saved, const ExampleIds& seen,
                              Index most_bytes = Index{4} << 20);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
