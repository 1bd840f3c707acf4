// Intervals of shares and sizes of models in a study's results.
#include "headroom_lab/study/results.hpp"
#include "support/catch.hpp"
#include "support/hand_study.hpp"

using namespace headroom;
using namespace hand_study;

TEST_CASE("the multiply-adds of a position, by hand") {
  ModelConfig model;
  model.layers = 2;
  model.block.width = 16;
  model.block.heads = 4;
  // Heads 4 * 16 * 4 = 256, feed-forward layers 2 * 16 * 64 = 2048.
  CHECK(multiply_adds_of(model, {{"decoder", 5}}) == 5 * 256 + 2 * 2048);
  CHECK(multiply_adds_of(model, {{"encoder", 1}, {"decoder", 2}, {"cross", 0}}) ==
        3 * 256 + 4 * 2048);
  model.block.head_dim = 8;
  model.block.hidden = 32;
  CHECK(multiply_adds_of(model, {{"encoder", 3}}) == 3 * 512 + 2 * 1024);
  model.block.layout = Layout::shared;  // 3 * 8 * 8 + 16 * 8
  CHECK(multiply_adds_of(model, {{"encoder", 3}}) == 3 * 320 + 2 * 1024);
}

TEST_CASE("the interval of a share stays between 0 and 1, that of a loss does not") {
  for (const std::string measure : {"exact_match", "validation_loss"}) {
    INFO(measure);
    Record record = declaration();
    record["measures"] = {measure};
    record["contrasts"]["measures"] = {measure};
    const StudyDeclaration d = declared(record);
    const StudyResults found = results(d, plan_of(d), {{"a", {0.8, 0.99, 1}}}, measure);
    REQUIRE(found.means.size() == 1);
    const Interval& mean = found.means[0].mean;
    CHECK(std::abs(mean.value - 0.93) < 1e-12);
    CHECK((mean.high <= 1) == (measure == "exact_match"));
    CHECK(mean.low < mean.value);
  }
  CHECK(is_share("cut.test.accuracy"));
  CHECK(is_share("wer"));
  CHECK_FALSE(is_share("test.loss"));
}
