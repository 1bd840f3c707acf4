// BatchPlan: the examples of each batch, epoch after epoch.
#include "headroom/data/batch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

// Examples are sorted by length within stretches of this many batches: a batch has similar lengths,
// but other examples in every epoch.
constexpr Index batches_per_stretch = 32;

std::vector<Index> numbers_below(std::size_t count) {
  std::vector<Index> numbers(count);
  std::iota(numbers.begin(), numbers.end(), Index{0});
  return numbers;
}

void check_batch_size(std::size_t examples, Index batch_size) {
  if (examples == 0 || batch_size < 1) {
    throw UsageError(fmt::format("batches: {} examples in batches of {}; both must be at least 1",
                                 examples, batch_size));
  }
}

using Iterator = std::vector<Index>::iterator;

void sort_by_length(Iterator begin, Iterator end, const std::vector<Index>& lengths) {
  std::stable_sort(begin, end, [&](Index a, Index b) { return at(lengths, a) < at(lengths, b); });
}

std::vector<std::vector<Index>> cut(const std::vector<Index>& order, Index batch_size) {
  std::vector<std::vector<Index>> batches;
  for (auto begin = order.begin(); begin != order.end();) {
    const auto end = begin + std::min<std::ptrdiff_t>(batch_size, order.end() - begin);
    batches.emplace_back(begin, end);
    begin = end;
  }
  return batches;
}

}  // namespace

BatchPlan::BatchPlan(std::vector<Index> lengths, Index batch_size, std::uint64_t seed)
    : lengths_(std::move(lengths)), batch_size_(batch_size), seed_(seed) {
  check_batch_size(lengths_.size(), batch_size);
  deal();
}

void BatchPlan::deal() {
  Rng rng(seed_, "data", static_cast<std::uint64_t>(epoch_));
  std::vector<Index> order = random_order(std::ssize(lengths_), rng);
  for (auto begin = order.begin(); begin != order.end();) {
    const auto end =
        begin + std::min<std::ptrdiff_t>(batches_per_stretch * batch_size_, order.end() - begin);
    sort_by_length(begin, end, lengths_);
    begin = end;
  }
  batches_ = cut(order, batch_size_);
  shuffle(batches_, rng);
}

std::vector<Index> BatchPlan::next() {
  std::vector<Index> batch = at(batches_, position_++);
  if (position_ == batches_per_epoch()) {
    ++epoch_;
    position_ = 0;
    deal();
  }
  return batch;
}

double BatchPlan::progress() const {
  return double(epoch_) + double(position_) / double(batches_per_epoch());
}

namespace {

// Hash of the lengths, to detect a changed set of examples.
std::int64_t fingerprint(const std::vector<Index>& lengths) {
  const auto bytes = std::as_bytes(std::span(lengths));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::bit_cast<std::int64_t>(hash_name(text));
}

}  // namespace

void BatchPlan::save_state(StateWriter to) const {
  to.integer("epoch", epoch_);
  to.integer("position", position_);
  to.integer("seed", std::bit_cast<std::int64_t>(seed_));
  to.integer("batch_size", batch_size_);
  to.integer("examples", std::ssize(lengths_));
  to.integer("fingerprint", fingerprint(lengths_));
}

void BatchPlan::load_state(const StateReader& from) {
  const auto must_be = [&](const char* name, std::int64_t mine) {
    const std::int64_t saved = from.integer(name);
    if (saved != mine) {
      throw FileError(
          fmt::format("{} is {} there but {} in this run: resuming needs the same data, "
                      "batch size and seed",
                      from.where(name), saved, mine));
    }
  };
  must_be("batch_size", batch_size_);
  must_be("examples", std::ssize(lengths_));
  must_be("seed", std::bit_cast<std::int64_t>(seed_));
  must_be("fingerprint", fingerprint(lengths_));
  const Index epoch = from.integer("epoch"), position = from.integer("position");
  if (epoch < 0 || position < 0 || position >= batches_per_epoch()) {
    throw FileError(fmt::format("{} {}, batch {} does not exist: an epoch has {} batches",
                                from.where("epoch"), epoch, position, batches_per_epoch()));
  }
  epoch_ = epoch;
  position_ = position;
  deal();
}

std::vector<std::vector<Index>> batches_by_length(const std::vector<Index>& lengths,
                                                  Index batch_size) {
  check_batch_size(lengths.size(), batch_size);
  std::vector<Index> order = numbers_below(lengths.size());
  sort_by_length(order.begin(), order.end(), lengths);
  return cut(order, batch_size);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
