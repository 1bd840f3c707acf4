// A model as a record: every parameter is stored exactly in half precision, and too large ones are
// rejected.
#include "headroom_runs/records/model_record.hpp"

#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/half.hpp"
#include "headroom_runs/records/attention_record.hpp"
#include "support/catch.hpp"
#include "support/small_saved_model.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// The numbers of a base64 text of halves, decoded by hand.
std::vector<double> numbers_of(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned> bytes;
  unsigned bits = 0, held = 0;
  for (const char letter : text) {
    if (letter == '=') break;
    bits = bits << 6 | static_cast<unsigned>(letters.find(letter));
    held += 6;
    if (held >= 8) bytes.push_back(bits >> (held -= 8) & 0xFFu);
  }
  std::vector<double> numbers;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    numbers.push_back(half_number(static_cast<std::uint16_t>(bytes[i] | bytes[i + 1] << 8)));
  }
  return numbers;
}

}  // namespace

TEST_CASE("the record holds every parameter of the model, rounded as round_to_half rounds") {
  ModelConfig config = test::small_config(ModelKind::language_model, Layout::fused);
  config.tied_output = true;
  config.positions = PositionKind::learned;
  const std::vector<HeadId> removed{{AttentionKind::decoder_self, 1, 0}};
  const SavedModel saved = test::small_saved_model(config, removed);
  const ModelRecord record = model_record(saved);
  round_to_half(*saved.model);
  const std::vector<NamedParameter> all = parameters(*saved.model);
  REQUIRE(record.parameters.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const HalfTensor& entry = record.parameters[i];
    INFO(all[i].name);
    CHECK(entry.name == all[i].name);
    Index size = 1;
    for (const Index axis : entry.shape) size *= axis;
    CHECK(size == all[i].tensor.size());
    const std::vector<double> numbers = numbers_of(entry.half);
    REQUIRE(numbers.size() == static_cast<std::size_t>(all[i].tensor.size()));
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      if (numbers[n] != double(all[i].tensor.value()[Index(n)])) {
        FAIL(n << ": " << numbers[n]);
      }
    }
  }
  CHECK(record.attentions[1].alive == std::vector<Index>{1, 2});
  CHECK(json_of(record.config) ==
        config.to_record().patch(
            Record::array({{{"op", "replace"}, {"path", "/source_vocabulary"}, {"value", 4}},
                           {{"op", "replace"}, {"path", "/target_vocabulary"}, {"value", 3}}})));
}

TEST_CASE("a page's model comes with the rounded model's logits and how far rounding moved them") {
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::seq2seq, Layout::separate));
  const ExampleIds seen = attention_record(saved, {.input = "abc", .output = "xy"}).ids;
  const auto logits = [&] {
    const NoGrad quiet;
    return saved.seq2seq()(Ids({1, 3}, {4, 5, 6}), Ids({1}, {3}), Ids({1, 3}, {1, 4, 5})).value();
  };
  const Array before = logits();
  const ModelRecord record = page_model_record(saved, seen);
  const Array after = logits();
  double moved = 0;
  for (Index t = 0; t < 3; ++t) {
    for (Index v = 0; v < 7; ++v) {
      const auto rounded = double(after[t * 7 + v]);
      moved = std::max(moved, std::abs(rounded - double(before[t * 7 + v])));
      const double kept = record.logits[static_cast<std::size_t>(t)][static_cast<std::size_t>(v)];
      CHECK(std::abs(kept - rounded) < 1e-6);
    }
  }
  CHECK(moved > 0);
  CHECK(std::abs(record.rounding.value() - moved) < 1e-9);
}

TEST_CASE("a model that is too large, or too large in a number, is left out with the reason") {
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::classifier, Layout::fused));
  const ExampleIds seen = attention_record(saved, {.input = "ab"}).ids;
  const Index bytes = 2 * count_parameters(*saved.model);
  CHECK(json_of(page_model_record(saved, seen, bytes - 1)).size() == 1);
  CHECK_THAT(page_model_record(saved, seen, 1000).left_out, Contains("MB even in half precision"));
  CHECK(page_model_record(saved, seen, bytes).parameters.size() > 0);
  Array broken = saved.classifier().output.bias.value().clone();
  broken[1] = Real(70000);
  saved.classifier().output.bias.set_value(broken);
  CHECK_THROWS_AS(round_to_half(*saved.model), NumericError);
  CHECK_THAT(page_model_record(saved, seen).left_out,
             Contains("output.bias has the value 7e+04, which is too large for half precision"));
}
