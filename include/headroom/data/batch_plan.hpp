// BatchPlan: the examples of each batch, epoch after epoch.
#pragma once

#include <string>
#include <vector>

#include "headroom/io/stateful.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Divides examples into batches: every example once per epoch, in an order that depends on seed
/// and epoch only, with examples of similar length together. The last batch of an epoch may be
/// smaller. The state is a position, so a resumed run gets the same batches.
class BatchPlan : public Stateful {
 public:
  /// `lengths` [examples]. Throws UsageError if it is empty or the batch size is below 1.
  BatchPlan(std::vector<Index> lengths, Index batch_size, std::uint64_t seed);

  /// The examples of the next batch.
  std::vector<Index> next();

  Index epoch() const { return epoch_; }        // epochs completed
  Index position() const { return position_; }  // batches taken from the current one
  Index batches_per_epoch() const { return Index(batches_.size()); }
  /// Epochs completed, plus the fraction of the current one.
  double progress() const;

  void save_state(StateWriter to) const override;
  /// Throws FileError also if the data or the batch size differ from those of the saved plan.
  void load_state(const StateReader& from) override;

 private:
  void deal();

  std::vector<Index> lengths_;
  Index batch_size_;
  std::uint64_t seed_;
  Index epoch_ = 0, position_ = 0;
  std::vector<std::vector<Index>> batches_;  // of the current epoch
};

/// Batches for evaluation: every example once, sorted by length (shortest first).
std::vector<std::vector<Index>> batches_by_length(const std::vector<Index>& lengths,
                                                  Index batch_size);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
