// chrF against published code.
#include "headroom_runs/use/chrf.hpp"

#include <cmath>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

struct Case {
  const char *output, *reference;
  double expected;
};

// By sacrebleu 2.6.0: CHRF().sentence_score(output, [reference]).score / 100.
constexpr Case cases[] = {
    {"the cat sat on the mat", "the cat is on the mat", 0.645779420625287},
    {"a dog", "the dogs", 0.2670851729212656},
    {"katzen", "katze", 0.9244791666666666},
    {"same", "same", 1},
};

}  // namespace

TEST_CASE("chrf() has the values of sacrebleu, for sentences and for all of them") {
  ChrfCounts all;
  for (const Case& one : cases) {
    const ChrfCounts counts = chrf_counts(one.output, one.reference);
    CHECK(std::abs(chrf(counts) - one.expected) < 1e-12);
    for (std::size_t i = 0; i < ChrfCounts::orders; ++i) {
      all.output[i] += counts.output[i];
      all.reference[i] += counts.reference[i];
      all.matches[i] += counts.matches[i];
    }
  }
  CHECK(std::abs(chrf(all) - 0.597989360354329) < 1e-12);  // corpus_score()
}

TEST_CASE("chrf() counts characters, not bytes, and is 0 for what has nothing in common") {
  CHECK(chrf_counts("\xC3\xBC \xC3\xBC", "u").output[0] == 2);
  CHECK(chrf(chrf_counts("abc", "xyz")) == 0);
  CHECK(chrf(chrf_counts("", "xyz")) == 0);
  CHECK_THROWS_AS(chrf_counts("\xFF", "u"), DataError);
}
