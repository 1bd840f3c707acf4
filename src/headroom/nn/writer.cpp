// Writers: models that read the tokens they generated, with and without a cache of keys and values.
#include <fmt/format.h>

#include <algorithm>

#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/decoding.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

template <class T>
std::vector<T> pick_rows(const std::vector<T>& x, std::span<const Index> rows) {
  std::vector<T> picked;
  for (const Index row : rows) picked.push_back(at(x, row));
  return picked;
}

/// Logits of the last position, [B, T, V] -> [B, V].
Array last_position(const Array& logits) {
  const Index batch = logits.dim(0), time = logits.dim(1), tokens = logits.dim(2);
  if (time == 1) return logits.reshaped({batch, tokens});
  Array last({batch, tokens});
  for (Index b = 0; b < batch; ++b) {
    std::copy_n(logits.data() + ((b + 1) * time - 1) * tokens, tokens, last.data() + b * tokens);
  }
  return last;
}

void check_eval(const Module& model) {
  if (model.training()) {
    throw UsageError("make_writer: the model is in training mode; call eval() first");
  }
}

/// The base of both kinds of writer: the tokens so far and the remaining room.
class ModelWriter : public Writer {
 public:
  Index batch() const override { return Index(written_.size()); }
  Index room() const override { return longest_ - length_; }

  Array next(const Ids& ids) override {
    if (ids.rank() != 2 || ids.dim(0) != batch() || ids.dim(1) < 1) {
      throw ShapeError(fmt::format("writer: ids {} for {} sequences; they must be [{}, n], n >= 1",
                                   ids.shape().text(), batch(), batch()));
    }
    const Index more = ids.dim(1);
    if (more > room()) {
      throw ShapeError(
          fmt::format("writer: {} more tokens after {}, but the model's longest sequence is {}; "
                      "generate less or build the model with a larger 'longest'",
                      more, length_, longest_));
    }
    const NoGrad quiet;
    for (Index b = 0; b < batch(); ++b) {
      auto& row = at(written_, b);
      row.insert(row.end(), ids.data() + b * more, ids.data() + (b + 1) * more);
    }
    const Array logits = cached_ ? append(ids) : recompute(newest(length_ + more));
    length_ += more;
    return last_position(logits);
  }

  void reorder(std::span<const Index> rows) override {
    for (const Index row : rows) {
      if (row < 0 || row >= batch()) {
        throw UsageError(fmt::format("reorder: row {} of a writer of {} sequences", row, batch()));
      }
    }
    reorder_state(rows);
    written_ = pick_rows(written_, rows);
  }

 protected:
  ModelWriter(Index batch, Index longest, bool cached)
      : longest_(longest), cached_(cached), written_(static_cast<std::size_t>(batch)) {}

  /// Logits of the new positions, which are appended to the caches, or without caches of all
  /// positions.
  virtual Array append(const Ids& ids) = 0;
  virtual Array recompute(const Ids& all) = 0;
  virtual void reorder_state(std::span<const Index> rows) = 0;

  Index length() const { return length_; }
  /// The newest n tokens of each sequence, [B, n].
  Ids newest(Index n) const {
    Ids ids({batch(), n});
    std::int32_t* to = ids.data();
    for (const auto& row : written_) to = std::copy(row.end() - n, row.end(), to);
    return ids;
  }
  void forget_all() {
    for (auto& row : written_) row.clear();
    length_ = 0;
  }
  /// Reserves `more` positions. Doubling keeps the cost of copying linear in the tokens generated.
  void reserve(KeyValueCache& cache, Index more) const {
    const Index needed = length_ + more;
    if (needed > cache.capacity) {
      cache.reserve(std::min(longest_, std::max({needed, 2 * cache.capacity, Index{32}})));
    }
  }

 private:
  Index longest_, length_ = 0;
  bool cached_;
  std::vector<std::vector<std::int32_t>> written_;  // length_ tokens of each sequence
};

class Seq2SeqWriter : public ModelWriter {
 public:
  Seq2SeqWriter(const Seq2Seq& model, const Ids& source, const Ids& lengths, Index copies,
                bool cached)
      : ModelWriter(source.dim(0) * copies, model.config.longest, cached),
        model_(model),
        caches_(model.decoder.layers.size()) {
    for (DecoderLayerCache& cache : caches_) cache.cross.fixed = true;
    for (Index row = 0; row < batch(); ++row) examples_.push_back(row / copies);
    const NoGrad quiet;
    memory_ = pick_rows(model.encode(model.embed_source(source), lengths).value(), examples_);
    lengths_ = pick_rows(lengths, examples_);
  }

 private:
  Array append(const Ids& ids) override {
    for (DecoderLayerCache& cache : caches_) reserve(cache.self, ids.dim(1));
    const Tensor x = model_.embed_target(ids, length());
    return model_.decode(x, Tensor(memory_), lengths_, nullptr, &caches_).value();
  }
  Array recompute(const Ids& all) override {
    return model_.decode(model_.embed_target(all), Tensor(memory_), lengths_).value();
  }
  void reorder_state(std::span<const Index> rows) override {
    for (DecoderLayerCache& cache : caches_) cache.self.reorder(rows);
    std::vector<Index> examples = pick_rows(examples_, rows);
    if (examples == examples_) return;  // beams of one example share its source
    examples_ = std::move(examples);
    for (DecoderLayerCache& cache : caches_) cache.cross.reorder(rows);
    memory_ = pick_rows(memory_, rows);
    lengths_ = pick_rows(lengths_, rows);
  }

  const Seq2Seq& model_;
  std::vector<DecoderLayerCache> caches_;
  std::vector<Index> examples_;  // the example whose source each row holds
  Array memory_;                 // [B, Ts, C]
  Ids lengths_;                  // [B]
};

class LanguageModelWriter : public ModelWriter {
 public:
  LanguageModelWriter(const LanguageModel& model, Index batch, bool cached)
      : ModelWriter(batch, model.config.longest, cached),
        model_(model),
        caches_(model.decoder.layers.size()) {}

  bool slide() override {
    if (length() < 2) return false;
    const Ids kept = newest(length() / 2);
    forget_all();
    for (KeyValueCache& cache : caches_) cache.length = 0;
    next(kept);
    return true;
  }

 private:
  Array append(const Ids& ids) override {
    for (KeyValueCache& cache : caches_) reserve(cache, ids.dim(1));
    return model_(ids, nullptr, &caches_).value();
  }
  Array recompute(const Ids& all) override { return model_(all).value(); }
  void reorder_state(std::span<const Index> rows) override {
    for (KeyValueCache& cache : caches_) cache.reorder(rows);
  }

  const LanguageModel& model_;
  std::vector<KeyValueCache> caches_;
};

}  // namespace

std::unique_ptr<Writer> make_writer(const Seq2Seq& model, const Ids& source,
                                    const Ids& source_lengths, Index copies, bool cache) {
  check_eval(model);
  if (copies < 1) {
    throw UsageError(fmt::format("make_writer: {} copies of each source; at least 1", copies));
  }
  return std::make_unique<Seq2SeqWriter>(model, source, source_lengths, copies, cache);
}

std::unique_ptr<Writer> make_writer(const LanguageModel& model, Index batch, bool cache) {
  check_eval(model);
  if (batch < 1) throw UsageError(fmt::format("make_writer: {} texts; at least 1", batch));
  return std::make_unique<LanguageModelWriter>(model, batch, cache);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
