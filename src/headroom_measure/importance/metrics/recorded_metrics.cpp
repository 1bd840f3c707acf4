// Metrics whose scores were recorded while the model was trained.
#include <fmt/format.h>

#include <algorithm>

#include "importance/metrics/families.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The recorded scores of this name.
class RecordedMetric : public HeadMetric {
 public:
  explicit RecordedMetric(std::string name) : name_(std::move(name)) {}
  void begin(const MetricSubject& subject) override {
    const auto found = subject.recorded.find(name_);
    if (found == subject.recorded.end()) {
      absent_ = "the run did not record it";
      return;
    }
    for (const HeadId& head : subject.heads) {
      const auto entry = std::find_if(found->second.begin(), found->second.end(),
                                      [&](const HeadScore& score) { return score.head == head; });
      if (entry == found->second.end()) {
        absent_ = fmt::format("the run recorded no score of {}", head.text());
        return;
      }
      scores_.push_back(entry->score);
    }
  }
  std::string absent() const override { return absent_; }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::string name_, absent_;
  std::vector<double> scores_;
};

MetricEntry recorded(const MetricInfo& info) { return metric_of<RecordedMetric>(info, info.name); }

}  // namespace

std::vector<MetricEntry> recorded_metrics() {
  return {
      recorded({.name = "running_sensitivity",
                .formula = "mean over the training steps of |<W_O^h, dL/dW_O^h>|, L the mean loss "
                           "per token of the step's batch",
                .source = "headroom: dL/dg_h by Euler's identity, from training's own gradients",
                .cost = "0"}),
      recorded({.name = "movement",
                .formula = "-sum over the training steps of <W_O^h, dL/dW_O^h>",
                .source = "Sanh, Wolf and Rush 2020, for whole heads, without the learning rate's "
                          "factor",
                .cost = "0"}),
      recorded({.name = "hard_concrete",
                .formula = "ln alpha of the head's hard concrete gate",
                .source = "Louizos, Welling and Kingma 2018; Voita et al. 2019",
                .cost = "training"}),
      recorded({.name = "subset",
                .formula = "w of the head in samples of k heads by w + Gumbel noise",
                .source = "Li, Cotterell and Sachan 2021",
                .cost = "training"}),
      recorded({.name = "frozen_gates",
                .formula = "gate of the head, learned with an L1 penalty while the model is frozen",
                .source = "He, Zhang and Sun 2017; DuoAttention, Xiao et al. 2024",
                .cost = "training"}),
  };
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
