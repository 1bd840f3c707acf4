// Cuts to a time limit, with times that are given.
#include "cli/timing/head_times.hpp"

#include "headroom/base/error.hpp"
#include "headroom/nn/transformer.hpp"
#include "headroom_measure/importance/head_scores.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// 1 + 1 layers with 4 heads in each attention.
Seq2Seq small_model() {
  Rng rng(1, "init");
  return {{.kind = ModelKind::seq2seq,
           .block = {.width = 8, .heads = 4},
           .layers = 1,
           .source_vocabulary = 5,
           .target_vocabulary = 5,
           .longest = 8},
          rng};
}

/// An encoder head takes 3 ms, a decoder head 1 ms and a cross head 2 ms, all others 10 ms.
HeadTimes given_times() {
  HeadTimes times{.whole = 34,
                  .of_heads = {{{AttentionKind::encoder_self, 0}, 3},
                               {{AttentionKind::decoder_self, 0}, 1},
                               {{AttentionKind::cross, 0}, 2}},
                  .without = {}};
  times.without = [of = times.of_heads](const std::vector<HeadId>& removed) {
    double ms = 34;
    for (const HeadId& head : removed) ms -= of.at({head.kind, head.layer});
    return ms;
  };
  return times;
}

/// Head h of the cross-attention has importance 1 + h, one of the decoder 1.5 times and one of the
/// encoder twice as much.
std::vector<HeadScore> given_scores(Module& model) {
  std::vector<HeadScore> scores;
  for (const HeadId& head : live_heads(model)) {
    const double factor = head.kind == AttentionKind::encoder_self   ? 2
                          : head.kind == AttentionKind::decoder_self ? 1.5
                                                                     : 1;
    scores.push_back({head, factor * (1 + double(head.head))});
  }
  return scores;
}

std::vector<std::string> names_of(const std::vector<HeadId>& heads) {
  std::vector<std::string> names;
  for (const HeadId& head : heads) names.push_back(head.text());
  return names;
}

}  // namespace

TEST_CASE("scores per millisecond prefer heads that take long") {
  Seq2Seq model = small_model();
  const HeadTimes times = given_times();
  const std::vector<HeadScore> scores = given_scores(model);
  const std::vector<HeadScore> rates = per_millisecond(scores, times);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    CHECK(rates[i].score == scores[i].score / times.of(scores[i].head));
  }
  // The model has to be 7 ms faster. Importance alone removes the heads with the scores 1, 1.5, 2
  // and 2, which take 2 + 1 + 3 + 2 ms; per millisecond, three heads with 2 + 3 + 2 ms suffice.
  const std::vector<HeadId> alone = heads_to_remove(model, times, scores, {}, 27),
                            rated = heads_to_remove(model, times, rates, {}, 27);
  CHECK(std::ssize(alone) == 4);
  CHECK(std::ssize(rated) == 3);
  CHECK(times.without(alone) <= 27);
  CHECK(times.without(rated) <= 27);
  CHECK(names_of(rated) ==
        std::vector<std::string>{HeadId{AttentionKind::cross, 0, 0}.text(),
                                 HeadId{AttentionKind::encoder_self, 0, 0}.text(),
                                 HeadId{AttentionKind::cross, 0, 1}.text()});
}

TEST_CASE("a cut to a time removes no more heads than needed, and measures before it stops") {
  Seq2Seq model = small_model();
  HeadTimes times = given_times();
  const std::vector<HeadScore> scores = given_scores(model);
  for (const double limit : {33.5, 30.0, 25.0, 18.0}) {
    const std::vector<HeadId> heads = heads_to_remove(model, times, scores, {}, limit);
    CHECK(times.without(heads) <= limit);
    CHECK(times.without({heads.begin(), heads.end() - 1}) > limit);
  }
  // If the model is slower than its parts predict, it removes more.
  const auto before = heads_to_remove(model, times, scores, {}, 25);
  times.without = [slower = times.without](const auto& removed) { return slower(removed) + 3; };
  CHECK(heads_to_remove(model, times, scores, {}, 25).size() > before.size());
}

TEST_CASE("a time that cannot be reached is refused with the time that can") {
  Seq2Seq model = small_model();
  const HeadTimes times = given_times();
  const std::vector<HeadScore> scores = given_scores(model);
  CHECK_THROWS_WITH(heads_to_remove(model, times, scores, {}, 34),
                    Contains("--budget-ms 34: the model takes 34 ms already"));
  // Each kind keeps a head: 9 heads and 18 ms can go.
  CHECK(heads_to_remove(model, times, scores, {}, 16).size() == 9);
  CHECK_THROWS_WITH(heads_to_remove(model, times, scores, {}, 15),
                    Contains("with 9 heads removed") && Contains("takes 16 ms"));
}
