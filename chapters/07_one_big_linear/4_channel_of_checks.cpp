// Checks channel_of: as a table, then in an attention that is written for another implementation.
#include <fmt/format.h>

#include <algorithm>

#include "common/checks.hpp"
#include "headroom/surgery/layout_conversion.hpp"
#include "headroom/nn/separate_heads.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

const chapter::Names names{{"head", "feature"}, {}};

/// The library's function, whoever wrote it, as a table [heads, head_dim].
Array channels(HeadOrder order, Index heads, Index head_dim) {
  Array table({heads, head_dim});
  for (Index head = 0; head < heads; ++head) {
    for (Index d = 0; d < head_dim; ++d) {
      table[head * head_dim + d] = Real(channel_of(order, head, d, heads, head_dim));
    }
  }
  return table;
}

/// 0, 1, 2, ... are counted, so that nothing of a formula is needed.
Array counted(HeadOrder order, Index heads, Index head_dim) {
  Array channels({heads, head_dim});
  Index next = 0;
  if (order == HeadOrder::blocked) {
    for (Index head = 0; head < heads; ++head) {
      for (Index d = 0; d < head_dim; ++d) channels[head * head_dim + d] = Real(next++);
    }
  } else {
    for (Index d = 0; d < head_dim; ++d) {
      for (Index head = 0; head < heads; ++head) channels[head * head_dim + d] = Real(next++);
    }
  }
  return channels;
}

void compare(HeadOrder order, Index heads, Index head_dim) {
  const bool blocked = order == HeadOrder::blocked;
  const HeadOrder other = blocked ? HeadOrder::interleaved : HeadOrder::blocked;
  const Array yours = channels(order, heads, head_dim), others = channels(other, heads, head_dim);
  const bool one_order =
      std::equal(yours.span().begin(), yours.span().end(), others.span().begin());
  chapter::require_equal(fmt::format("{} heads with {} features, {}: the channels", heads, head_dim,
                                     blocked ? "blocked" : "interleaved"),
                         counted(order, heads, head_dim), yours, names,
                         {{one_order ? "the order was ignored: both orders give these channels"
                                     : "the two orders were exchanged",
                           [=] { return counted(other, heads, head_dim); }}});
}

}  // namespace

TEST_CASE("blocked: head after head", "[07/4]") {
  compare(HeadOrder::blocked, 2, 3);
  compare(HeadOrder::blocked, 12, 5);
  compare(HeadOrder::blocked, 4, 4);
}

TEST_CASE("interleaved: feature after feature", "[07/4]") {
  compare(HeadOrder::interleaved, 2, 3);
  compare(HeadOrder::interleaved, 12, 5);
  compare(HeadOrder::interleaved, 4, 4);
}

TEST_CASE("a checkpoint with interleaved heads", "[07/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "07/4");
    SeparateHeads layer({.width = 12, .heads = 4}, rng);
    const NamedArrays written =
        export_attention(layer, ForeignLayout::bert, HeadOrder::interleaved);
    const Array& query = written.at("self.query.weight");
    Array expected(query.shape());
    for (Index head = 0, d_head = 3; head < 4; ++head) {
      const Array own = layer.query[std::size_t(head)]->weight.value();
      for (Index d = 0; d < d_head; ++d) {
        std::copy_n(own.data() + d * 12, 12, expected.data() + (d * 4 + head) * 12);
      }
    }
    chapter::require_equal("the elements of the checkpoint's query matrix", expected, query,
                           {{"row", "column"}, {}});
    for (NamedParameter& p : parameters(layer)) p.tensor.set_value(zeros(p.tensor.shape()));
    import_attention(written, layer, ForeignLayout::bert, HeadOrder::interleaved);
    const NamedArrays again = export_attention(layer, ForeignLayout::bert, HeadOrder::interleaved);
    for (const auto& [name, array] : written) {
      chapter::require(
          std::equal(array.span().begin(), array.span().end(), again.at(name).span().begin()),
          fmt::format("{} changes when it is read and written again.", name));
    }
  }
}
