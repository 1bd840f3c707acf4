// The last norm and the output layer of a model, with the scale of the norm held fixed.
#include "importance/readout.hpp"

#include <cmath>

#include "headroom/data/batches.hpp"
#include "headroom/nn/models.hpp"
#include "importance/evidence_pass.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Readout::Readout(Module& model) {
  if (const auto* pairs = dynamic_cast<const Seq2Seq*>(&model)) {
    read(pairs->decoder.norm.get(),
         pairs->output ? pairs->output->weight : pairs->target_embedding.weight);
  } else if (const auto* text = dynamic_cast<const LanguageModel*>(&model)) {
    kind_ = ModelKind::language_model;
    read(text->decoder.norm.get(), text->output ? text->output->weight : text->embedding.weight);
  } else if (const auto* classifier = dynamic_cast<const Classifier*>(&model)) {
    kind_ = ModelKind::classifier;
    read(classifier->encoder.norm.get(), classifier->output.weight);
  } else {
    absent_ = "it knows the output layers of headroom's own models only";
  }
}

void Readout::read(const Norm* norm, const Tensor& weight) {
  if (norm == nullptr) {
    absent_ = "in a post-norm model no head adds to the logits directly: a norm follows each layer";
    return;
  }
  norm_ = norm;
  weight_ = weight.value();
  const Index tokens = weight_.dim(0), width = weight_.dim(1);
  mean_.assign(static_cast<std::size_t>(width), 0);
  for (Index i = 0; i < weight_.size(); ++i) {
    mean_[static_cast<std::size_t>(i % width)] += double(weight_[i]) / double(tokens);
  }
}

bool Readout::reads(AttentionKind kind) const {
  return (kind == AttentionKind::encoder_self) == (kind_ == ModelKind::classifier);
}

Array Readout::gradient(const Evidence& batch) const {
  const Array& stream = batch.probe.residual.value();  // [B, T, C]
  const Index rows = stream.dim(0) * stream.dim(1), width = stream.dim(2);
  const bool centred = norm_->kind == NormKind::layer;
  Array gradient = zeros({rows, width});
  for (Index row = 0; row < rows; ++row) {
    const Index b = row / stream.dim(1), t = row % stream.dim(1);
    double share = 1;  // of the position in the logits
    if (kind_ == ModelKind::classifier) {
      const Index length = real_queries(batch, AttentionKind::encoder_self, b, stream.dim(1));
      if (t >= length) continue;
      share = 1 / double(length);
    }
    const std::int32_t label = batch.labels[kind_ == ModelKind::classifier ? b : row];
    if (label == ignored_label) continue;
    const Real *x = stream.data() + row * width, *of_label = weight_.data() + label * width;
    double mean = 0, squares = 0, mean_slope = 0;
    std::vector<double> slope;  // by the output of the norm before its scale
    for (Index c = 0; c < width; ++c) {
      mean += centred ? double(x[c]) / double(width) : 0;
      const double of_logit = double(of_label[c]) - mean_[static_cast<std::size_t>(c)];
      slope.push_back(share * of_logit * double(norm_->weight.value()[c]));
      mean_slope += centred ? slope.back() / double(width) : 0;
    }
    for (Index c = 0; c < width; ++c) squares += (double(x[c]) - mean) * (double(x[c]) - mean);
    const double scale = std::sqrt(squares / double(width) + double(norm_->epsilon));
    for (Index c = 0; c < width; ++c) {
      gradient[row * width + c] = Real((slope[static_cast<std::size_t>(c)] - mean_slope) / scale);
    }
  }
  return gradient;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
