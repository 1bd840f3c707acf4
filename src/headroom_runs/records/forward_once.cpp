// One sequence through a model of any kind.
#include "records/forward_once.hpp"

#include "headroom/base/error.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/train/evaluation.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Array forward_once(Module& model, const OneSequence& sequence, HeadProbe* probe) {
  const Evaluating quiet(model);
  const auto batch_of_one = [](const Tokens& tokens) { return pad(std::span(&tokens, 1), 0); };
  Tensor logits;
  if (const auto* seq2seq = dynamic_cast<const Seq2Seq*>(&model)) {
    const Padded source = batch_of_one(sequence.source);
    logits = (*seq2seq)(source.ids, source.lengths, batch_of_one(sequence.target_in).ids, probe);
  } else if (const auto* language = dynamic_cast<const LanguageModel*>(&model)) {
    logits = (*language)(batch_of_one(sequence.target_in).ids, probe);
  } else if (const auto* encoder = dynamic_cast<const TextEncoder*>(&model)) {
    const Padded source = batch_of_one(sequence.source);
    const auto* classifier = dynamic_cast<const Classifier*>(encoder);
    const auto* guesser = dynamic_cast<const MaskedLanguageModel*>(encoder);
    logits = classifier != nullptr ? (*classifier)(source.ids, source.lengths, probe)
             : guesser != nullptr  ? (*guesser)(source.ids, source.lengths, probe)
                                   : (*encoder)(source.ids, source.lengths, probe);
  } else {
    throw UsageError("forward_once: not a model of nn/models.hpp");
  }
  const Array& value = logits.value();
  return value.reshaped({value.size() / value.dim(value.rank() - 1), value.dim(value.rank() - 1)});
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
