// The record of attention: the maps are those of the model, the answer is its output.
#include "headroom_runs/records/attention_record.hpp"

#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/ops/softmax.hpp"
#include "support/catch.hpp"
#include "support/small_saved_model.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

using Texts = std::vector<std::string>;

const MapRecord* map_of(const AttentionRecord& record, const HeadId& head) {
  for (const MapRecord& map : record.example.maps) {
    if (map.id == head) return &map;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("an encoder-decoder's maps are those of teacher forcing on its own greedy answer") {
  const Layout layout =
      GENERATE(from_range(std::begin(test::all_layouts), std::end(test::all_layouts)));
  INFO(name_of(layout));
  const std::vector<HeadId> removed{{AttentionKind::cross, 0, 0}, {AttentionKind::cross, 0, 1}};
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::seq2seq, layout), removed);
  const AttentionRecord record = attention_record(saved, {.input = "abca"});

  // Greedy decoding by hand, which recomputes the whole target for every token. The unknown token
  // is never the best one.
  const Seq2Seq& model = saved.seq2seq();
  const NoGrad quiet;
  const Ids source({1, 4}, {4, 5, 6, 4}), lengths({1}, {4});
  std::vector<std::int32_t> read{1}, written;
  double probability = 1;
  while (written.size() < 11) {
    const Tensor logits = model(source, lengths, Ids({1, Index(read.size())}, std::span(read)));
    Array p = softmax(logits).value();
    Real* const last = p.data() + (Index(read.size()) - 1) * p.dim(2);
    last[3] = 0;  // <unk>
    const auto best = static_cast<std::int32_t>(std::max_element(last, last + p.dim(2)) - last);
    probability *= double(last[best]);
    written.push_back(best);
    if (best == 2) break;
    read.push_back(best);
  }
  if (written.back() != 2) read.pop_back();
  CHECK(record.ids.target_in == read);
  CHECK(record.ids.target == written);
  CHECK(record.answer.finished == (written.back() == 2));
  CHECK(std::abs(record.answer.probability - probability) < 1e-5);

  HeadProbe probe;
  probe.maps = true;
  model(source, lengths, Ids({1, Index(read.size())}, std::span(read)), &probe);
  std::size_t maps = 0;
  for (const auto& [place, seen] : probe.seen) {
    const Array& weights = seen.maps.value();
    for (Index head = 0, position = 0; head < 3; ++head) {
      const MapRecord* map = map_of(record, {place.kind, place.layer, head});
      const bool gone = place == AttentionLocation{AttentionKind::cross, 0} && head < 2;
      REQUIRE((map == nullptr) == gone);
      if (gone) continue;
      const Index keys = weights.dim(3);
      REQUIRE(map->rows.size() == static_cast<std::size_t>(weights.dim(2)));
      for (Index i = 0; i < weights.dim(2); ++i) {
        for (Index j = 0; j < keys; ++j) {
          const double shown = map->rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
          const auto own = double(weights[(position * weights.dim(2) + i) * keys + j]);
          if (std::abs(shown - own) > 1e-4) FAIL(name_of(place.kind) << ": " << shown);
        }
      }
      ++position;
      ++maps;
    }
  }
  CHECK(maps == record.example.maps.size());
  CHECK(record.model.alive == 16);
  CHECK(record.example.source == Texts{"a", "b", "c", "a"});
  CHECK(record.example.decoder_input[0] == "^");
}

TEST_CASE("a given output is read as if it had been written") {
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::seq2seq, Layout::fused));
  const AttentionRecord record = attention_record(saved, {.input = "ab", .output = "xyz"});
  CHECK(json_of(record)["output"] == "xyz");
  CHECK(json_of(attention_record(saved, {.input = "ab", .output = ""}))["output"] == "");
  CHECK(record.answer.text == "xyz");
  CHECK(record.example.target == Texts{"x", "y", "z", "$"});
  CHECK(record.example.decoder_input == Texts{"^", "x", "y", "z"});
}

TEST_CASE("a language model's text is the input and its output, each token after those before") {
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::language_model, Layout::separate));
  const AttentionRecord record = attention_record(saved, {.input = "abcd", .write = 5});
  const std::string written = record.answer.text;
  CHECK(written.size() == 5);
  std::string read, target;
  for (const std::string& token : record.example.decoder_input) read += token;
  for (const std::string& token : record.example.target) target += token;
  CHECK("abcd" + written == read + written.back());
  CHECK("abcd" + written == "a" + target);
  CHECK(!json_of(record)["example"].contains("source"));
  for (const MapRecord& map : record.example.maps) {
    CHECK(map.id.kind == AttentionKind::decoder_self);
    CHECK(map.rows[0][1] == 0.0);  // causal: no weight on later tokens
  }
  // There is room for 12 positions; the last token needs none.
  CHECK(attention_record(saved, {.input = "abcd"}).answer.text.size() == 9);
}

TEST_CASE("a classifier answers with its classes") {
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::classifier, Layout::shared));
  const AttentionRecord record = attention_record(saved, {.input = "dcba"});
  const NoGrad quiet;
  const Array p = softmax(saved.classifier()(Ids({1, 4}, {7, 6, 5, 4}), Ids({1}, {4}))).value();
  const std::vector<std::string> names{"no", "yes", "perhaps"};
  double sum = 0, before = 1;
  for (const auto& [name, probability] : record.answer.classes) {
    const auto at = std::find(names.begin(), names.end(), name);
    CHECK(std::abs(probability - double(p[at - names.begin()])) < 1e-6);
    CHECK(probability <= before);
    sum += before = probability;
  }
  CHECK(std::abs(sum - 1) < 1e-9);
  CHECK(record.answer.text == record.answer.classes[0].name);
  CHECK(record.example.maps.size() == 6);
}

TEST_CASE("texts that a model cannot take are refused with a reason") {
  const SavedModel translator =
      test::small_saved_model(test::small_config(ModelKind::seq2seq, Layout::fused));
  const SavedModel writer =
      test::small_saved_model(test::small_config(ModelKind::language_model, Layout::fused));
  const SavedModel judge =
      test::small_saved_model(test::small_config(ModelKind::classifier, Layout::fused));
  struct Bad {
    const SavedModel& saved;
    AttentionQuestion question;
    const char* words;
  };
  const std::vector<Bad> bad = {
      {translator, {.input = "aé"}, "input \"aé\": \"é\" is not one of the 4 tokens"},
      {writer, {.input = "ax"}, "\"x\" is not one of the 4 tokens in the model's vocabulary"},
      {translator, {.input = ""}, "the input is empty"},
      {translator,
       {.input = "abcdabcdabcda"},
       "the input has 13 tokens; the model reads at most 12"},
      {translator, {.input = "a", .output = "a"}, "output \"a\": \"a\" is not one of the 3"},
      {translator,
       {.input = "a", .output = "xyxyxyxyxyxy"},
       "the output has 12 tokens; there is room for 11"},
      {writer, {.input = "abc", .output = "abcdabcdabcd"}, "there is room for 10"},
      {writer,
       {.input = "a", .output = ""},
       "a text of one token has no earlier token to attend to"},
      {judge, {.input = "a", .output = "b"}, "a classifier has no output text"},
  };
  for (const Bad& b : bad) {
    CHECK_THROWS_WITH(attention_record(b.saved, b.question), Contains(b.words));
    CHECK_THROWS_AS(attention_record(b.saved, b.question), UsageError);
  }
}
