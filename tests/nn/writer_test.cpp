// Writers: decoding with and without a cache gives the same results.
#include "headroom/base/error.hpp"
#include "headroom/nn/decoding.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

template <class Model>
std::unique_ptr<Model> trained_model(const ModelConfig& config, bool pruned) {
  Rng rng(21);
  auto model = std::make_unique<Model>(config, rng);
  randomise(*model, rng);
  if (pruned) {  // one head of every attention, and all heads of the first attentions
    std::vector<HeadId> gone;
    for (const HeadId& head : live_heads(*model)) {
      if (head.head == 1 || head.layer == 0) gone.push_back(head);
    }
    prune(*model, gone);
  }
  model->eval();
  return model;
}

/// Feeds both writers the same random tokens, a few at a time, and compares their logits.
void check_same_logits(Writer& cached, Writer& fresh, Index tokens) {
  Rng rng(5);
  for (const Index count : {1, 1, 3, 1, 2}) {
    const Ids ids = random_ids({cached.batch(), count}, rng, tokens);
    const Array a = cached.next(ids), b = fresh.next(ids);
    REQUIRE(a.shape() == Shape{cached.batch(), tokens});
    CHECK_THAT(a, same_numbers(b, tolerance(1e-12, 5e-6)));
    CHECK(cached.room() == fresh.room());
  }
}

bool same(const std::vector<Written>& a, const std::vector<Written>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.ids == y.ids && x.finished == y.finished;
  });
}

const Ids source({3, 4}, {1, 2, 3, 4, 5, 6, 0, 0, 3, 0, 0, 0});
const Ids lengths({3}, {4, 2, 1});

}  // namespace

TEST_CASE("an encoder-decoder's cached logits equal those without a cache") {
  for (const Layout layout : all_layouts) {
    for (const bool pruned : {false, true}) {
      for (const PositionKind positions : {PositionKind::sinusoidal, PositionKind::learned}) {
        INFO(name_of(layout) << ", pruned " << pruned);
        ModelConfig config = small_config(ModelKind::seq2seq, layout, !pruned);
        config.positions = positions;
        const auto model = trained_model<Seq2Seq>(config, pruned);
        for (const Index copies : {1, 2}) {
          const auto cached = make_writer(*model, source, lengths, copies);
          const auto fresh = make_writer(*model, source, lengths, copies, false);
          CHECK(cached->batch() == 3 * copies);
          check_same_logits(*cached, *fresh, 6);
        }
        const DecodingLimits limits{.begin = 1, .end = 2, .longest = 10};
        const auto decode = [&](bool cache) {
          const auto writer = make_writer(*model, source, lengths, 1, cache);
          return greedy(*writer, limits);
        };
        if (is_double) CHECK(same(decode(true), decode(false)));
        const auto search = [&](bool cache) {
          const auto writer = make_writer(*model, source, lengths, 3, cache);
          return beam_search(*writer, 3, limits);
        };
        const auto a = search(true), b = search(false);
        REQUIRE(a.size() == 3);
        REQUIRE(b.size() == 3);
        for (const auto& candidates : a) CHECK_FALSE(candidates.empty());
        for (std::size_t i = 0; is_double && i < a.size(); ++i) CHECK(same(a[i], b[i]));
      }
    }
  }
}

TEST_CASE("a language model's cached logits equal those without a cache") {
  for (const Layout layout : all_layouts) {
    for (const bool pruned : {false, true}) {
      INFO(name_of(layout) << ", pruned " << pruned);
      ModelConfig config = small_config(ModelKind::language_model, layout);
      config.positions = PositionKind::learned;
      config.tied_output = true;
      const auto model = trained_model<LanguageModel>(config, pruned);
      const auto cached = make_writer(*model, 3), fresh = make_writer(*model, 3, false);
      check_same_logits(*cached, *fresh, 7);
    }
  }
}

TEST_CASE("the cache grows with the text, over many positions") {
  ModelConfig config = small_config(ModelKind::language_model, Layout::fused);
  config.longest = 150;
  const auto model = trained_model<LanguageModel>(config, false);
  const auto cached = make_writer(*model, 2), fresh = make_writer(*model, 2, false);
  Rng rng(6);
  for (Index step = 0; step < 150; ++step) {
    const Ids ids = random_ids({2, 1}, rng, 7);
    const Array a = cached->next(ids);
    const Array b = fresh->next(ids);
    if (step % 10 == 9) CHECK_THAT(a, same_numbers(b, tolerance(1e-12, 1e-5)));
  }
  CHECK(cached->room() == 0);
}

TEST_CASE("the writers give the logits of teacher forcing") {
  Rng rng(7);
  const ModelConfig config = small_config(ModelKind::seq2seq, Layout::fused);
  const auto model = trained_model<Seq2Seq>(config, false);
  const Ids target = random_ids({3, 6}, rng, 6);
  const Array whole = (*model)(source, lengths, target).value();
  const auto writer = make_writer(*model, source, lengths);
  for (Index t = 0; t < 6; ++t) {
    Ids ids({3, 1});
    Array expected({3, 6});
    for (Index b = 0; b < 3; ++b) {
      ids[b] = target[b * 6 + t];
      for (Index v = 0; v < 6; ++v) expected[b * 6 + v] = whole[(b * 6 + t) * 6 + v];
    }
    CHECK_THAT(writer->next(ids), same_numbers(expected, tolerance(1e-12, 5e-6)));
  }
}

TEST_CASE("reordered sequences go on from what they are now, sources included") {
  for (const bool cache : {true, false}) {
    const ModelConfig config = small_config(ModelKind::seq2seq, Layout::separate);
    const auto model = trained_model<Seq2Seq>(config, false);
    const auto writer = make_writer(*model, source, lengths, 1, cache);
    writer->next(Ids({3, 2}, {1, 2, 3, 4, 5, 0}));
    const Index order[] = {2, 0};  // drops example 1
    writer->reorder(order);
    REQUIRE(writer->batch() == 2);
    const Array moved = writer->next(Ids({2, 1}, {3, 5}));
    const auto straight = make_writer(*model, source, lengths, 1, false);
    straight->next(Ids({3, 2}, {1, 2, 3, 4, 5, 0}));
    const Array expected = straight->next(Ids({3, 1}, {5, 1, 3}));
    for (Index v = 0; v < 6; ++v) {
      CHECK(std::abs(moved[v] - expected[2 * 6 + v]) < same_function * 10);
      CHECK(std::abs(moved[6 + v] - expected[v]) < same_function * 10);
    }
    const Index missing[] = {2};
    CHECK_THROWS_WITH(writer->reorder(missing), Catch::Contains("row 2 of a writer of 2"));
  }
}

TEST_CASE("sequences that only exchange their rows take their sources along") {
  for (const bool cache : {true, false}) {
    INFO("cache " << cache);
    const ModelConfig config = small_config(ModelKind::seq2seq, Layout::fused);
    const auto model = trained_model<Seq2Seq>(config, false);
    const auto writer = make_writer(*model, source, lengths, 1, cache);
    const auto straight = make_writer(*model, source, lengths, 1, false);
    const Ids prefix({3, 2}, {1, 2, 1, 2, 1, 2});  // the rows differ only in their sources
    writer->next(prefix);
    straight->next(prefix);
    const Index order[] = {2, 0, 1};
    writer->reorder(order);
    const Array moved = writer->next(Ids({3, 1}, 3)), expected = straight->next(Ids({3, 1}, 3));
    for (Index row = 0; row < 3; ++row) {
      for (Index v = 0; v < 6; ++v) {
        INFO("row " << row << ", token " << v);
        CHECK(std::abs(moved[row * 6 + v] - expected[order[row] * 6 + v]) < same_function * 10);
      }
    }
  }
}

TEST_CASE("a reordered cache has the rows that were asked for, a fixed one too") {
  for (const bool fixed : {false, true}) {
    KeyValueCache cache;
    cache.keys = Array({3, 2, 1}, {1, 2, 3, 4, 5, 6});
    cache.values = Array({3, 2, 1}, {10, 20, 30, 40, 50, 60});
    cache.length = cache.capacity = 2;
    cache.fixed = fixed;
    const Index order[] = {2, 0, 0};
    cache.reorder(order);
    CHECK_THAT(cache.keys, SameBits(Array({3, 2, 1}, {5, 6, 1, 2, 1, 2})));
    CHECK_THAT(cache.values, SameBits(Array({3, 2, 1}, {50, 60, 10, 20, 10, 20})));
  }
}

TEST_CASE("a language model slides on from the newer half of a full window") {
  for (const bool cache : {true, false}) {
    const ModelConfig config = small_config(ModelKind::language_model, Layout::fused);
    const auto model = trained_model<LanguageModel>(config, false);  // longest 12
    Rng rng(8);
    const Ids ids = random_ids({2, 12}, rng, 7);
    const auto writer = make_writer(*model, 2, cache);
    writer->next(ids);
    CHECK(writer->room() == 0);
    REQUIRE(writer->slide());
    CHECK(writer->room() == 6);
    const auto fresh = make_writer(*model, 2, false);
    Ids half({2, 6});
    for (Index b = 0; b < 2; ++b) {
      for (Index t = 0; t < 6; ++t) half[b * 6 + t] = ids[b * 12 + 6 + t];
    }
    fresh->next(half);
    const Ids more({2, 1}, {3, 4});
    CHECK_THAT(writer->next(more), same_numbers(fresh->next(more), tolerance(1e-12, 5e-6)));
  }
  // A text much longer than the window; an encoder-decoder's target cannot slide.
  const auto model =
      trained_model<LanguageModel>(small_config(ModelKind::language_model, Layout::fused), false);
  const auto writer = make_writer(*model, 1);
  Rng rng(9);
  CHECK(sample(*writer, {.longest = 50}, {}, rng)[0].ids.size() == 50);
  const auto pair = trained_model<Seq2Seq>(small_config(ModelKind::seq2seq, Layout::fused), false);
  const auto bounded = make_writer(*pair, source, lengths);
  CHECK_FALSE(bounded->slide());
  for (const Written& w : sample(*bounded, {.longest = 50}, {}, rng)) CHECK(w.ids.size() == 12);
}

TEST_CASE("decoding a batch gives what decoding its examples one by one gives") {
  const auto model = trained_model<Seq2Seq>(small_config(ModelKind::seq2seq, Layout::fused), false);
  const DecodingLimits limits{.begin = 1, .end = 2, .longest = 11};
  const auto all = make_writer(*model, source, lengths, 2);
  const auto together = beam_search(*all, 2, limits);
  REQUIRE(together.size() == 3);
  for (Index b = 0; b < 3; ++b) {
    const Index n = lengths[b];  // without padding
    Ids one({1, n});
    for (Index t = 0; t < n; ++t) one[t] = source[b * 4 + t];
    const auto writer = make_writer(*model, one, Ids({1}, static_cast<std::int32_t>(n)), 2);
    const auto& candidates = together[static_cast<std::size_t>(b)];
    CHECK(candidates.size() == 2);
    if (is_double) CHECK(same(beam_search(*writer, 2, limits)[0], candidates));
  }
}

TEST_CASE("wrong use of a writer is refused with a remedy") {
  Rng rng(1);
  ModelConfig config = small_config(ModelKind::language_model, Layout::fused);
  LanguageModel model(config, rng);
  CHECK_THROWS_WITH(make_writer(model, 1), Catch::Contains("call eval() first"));
  model.eval();
  CHECK_THROWS_AS(make_writer(model, 0), UsageError);
  const auto writer = make_writer(model, 2);
  CHECK_THROWS_WITH(writer->next(Ids({3, 1}, 1)), Catch::Contains("[3, 1] for 2 sequences"));
  CHECK_THROWS_WITH(writer->next(Ids({2, 13}, 1)), Catch::Contains("larger 'longest'"));
  CHECK_THROWS_WITH(greedy(*writer, {.begin = 99}), Catch::Contains("99"));
  const auto prompted = make_writer(model, 1);
  CHECK_THROWS_WITH(sample(*prompted, {}, {}, rng, Ids({1, 13}, 1)),
                    Catch::Contains("shorten the prompt"));
  Seq2Seq pair(small_config(ModelKind::seq2seq, Layout::fused), rng);
  CHECK_THROWS_WITH(make_writer(pair, source, lengths), Catch::Contains("call eval() first"));
  pair.eval();
  CHECK_THROWS_AS(make_writer(pair, source, lengths, 0), UsageError);
}
