// The page of an evaluation: every one of the worst examples shows its maps.
#include "headroom_lab/report/evaluation.hpp"

#include "headroom/base/error.hpp"
#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/small_saved_model.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

SavedModel model_of(ModelKind kind) {
  return test::small_saved_model(test::small_config(kind, Layout::fused));
}

/// Twelve inputs, two of them with a letter that the model does not know.
Seq2SeqTask letters(const SavedModel& saved) {
  Seq2SeqTask task{.name = "letters",
                   .source = saved.vocabulary("source"),
                   .target = saved.vocabulary("target"),
                   .train = {},
                   .validation = {},
                   .test = {},
                   .skipped = {}};
  for (const char* text :
       {"ab", "abc", "dcba", "bbbbb", "cad", "dd", "caba", "aq", "bd", "qa", "acd", "bca"}) {
    task.test.push_back({task.source.encode(text), {task.target.encode("xyzzyx")}});
  }
  return task;
}

EvaluationRecord recorded(const SavedModel& saved, const Task& task, ExampleSet set) {
  EvaluationRecord record = evaluation_record(score(saved, task, set, {.window = 6}), 10);
  record.model = "run/best.safetensors";
  record.task = "letters";
  record.data = "a file";
  return record;
}

/// The page with a script that presses the buttons of all examples, one after the other.
std::string pressing(std::string page) {
  return page.insert(page.rfind("</body>"), R"js(<script>
const found = [];
for (const button of document.querySelectorAll(".examples button")) {
  button.click();
  const input = document.getElementById("input").value;
  const maps = document.querySelectorAll("#maps canvas").length;
  const heads = run.heads.filter((head) => head.kind === state.kind).length;
  if (maps !== heads) found.push(`no maps of ${input}`);
  if (message.textContent) found.push(message.textContent);
}
document.documentElement.dataset.pressed = document.querySelectorAll(".examples button").length;
document.documentElement.dataset.seen = found.join("; ") || "nothing wrong";
</script>)js");
}

void check_pressed(const std::string& page, const char* buttons) {
  const TemporaryFolder folder;
  folder.file("report.html", pressing(page));
  for (const OpenedPage& opened : check_page(folder / "report.html", folder / "browser")) {
    CHECK(opened.complaints == "");
    CHECK(opened.attribute("pressed") == buttons);
    CHECK(opened.attribute("seen") == "nothing wrong");
  }
}

}  // namespace

TEST_CASE("the page shows the maps of every one of the worst examples") {
  if (!can_open_pages()) return;
  const SavedModel saved = model_of(ModelKind::seq2seq);
  EvaluationRecord record = recorded(saved, letters(saved), ExampleSet::test);
  REQUIRE(record.wrong == 12);
  const AttentionRecord shown = attention_of_worst(record, saved);
  std::string kept;
  for (const WorstExample& one : record.worst) kept += one.example ? one.scores.input + " " : "";
  CHECK_THAT(kept, Contains("a<unk>") && Contains("<unk>a"));  // the page cannot compute these
  CHECK(kept.size() == 2 * std::string("a<unk> ").size());
  const std::string page = evaluation_page(record, shown);
  CHECK_THAT(page, Contains("12 of 12 examples are wrong"));
  check_pressed(page, "10");
}

TEST_CASE("a model that is too large for the page leaves the maps in it, as far as they fit") {
  if (!can_open_pages()) return;
  ModelConfig large = test::small_config(ModelKind::seq2seq, Layout::fused);
  large.block.width = 512;
  large.block.hidden = 1024;
  large.block.heads = 2;
  const SavedModel saved = test::small_saved_model(large);
  EvaluationRecord record = recorded(saved, letters(saved), ExampleSet::test);
  AttentionRecord shown = attention_of_worst(record, saved, 0);
  CHECK(shown.page_model->left_out != "");
  Index kept = 0;
  for (const WorstExample& one : record.worst) kept += one.example ? 1 : 0;
  CHECK(kept == 1);  // the first one is above the limit of 0 bytes
  shown = attention_of_worst(record, saved);
  check_pressed(evaluation_page(record, shown), "10");
}

TEST_CASE("the page of a text shows the maps of whole windows") {
  if (!can_open_pages()) return;
  const SavedModel saved = model_of(ModelKind::language_model);
  const Vocabulary tokens = saved.vocabulary("tokens");
  const TextCorpus text{"letters", tokens, {}, tokens.encode("abcdabcdbbacdabcabdcabdabcabd")};
  EvaluationRecord record = recorded(saved, text, ExampleSet::validation);
  const AttentionRecord shown = attention_of_worst(record, saved);
  const std::string page = evaluation_page(record, shown);
  CHECK_THAT(page, Contains("A perplexity of "));
  check_pressed(page, "5");
}

TEST_CASE("an evaluation says measures by class, and lists confusions where classes are many") {
  const SavedModel saved = model_of(ModelKind::classifier);
  ClassificationTask task{.name = "letters",
                          .tokens = saved.vocabulary("tokens"),
                          .classes = {"no", "yes", "perhaps"},
                          .train = {},
                          .validation = {},
                          .test = {}};
  for (const char* text : {"a", "ab", "abc", "dcba", "bbbbb", "cad"}) {
    task.test.push_back(
        {task.tokens.encode(text), static_cast<std::int32_t>(task.test.size() % 3)});
  }
  Scores scores = score(saved, task, ExampleSet::test);
  const std::string text = evaluation_text(evaluation_record(scores), {.unicode = true});
  CHECK_THAT(text, Contains("6 examples of") && Contains("macro F1") && Contains("By class") &&
                       Contains("Confusion matrix") && Contains("right \\ predicted"));
  for (int i = 0; i < 10; ++i) scores.classes.push_back("more " + std::to_string(i));
  scores.sums += 3 * 10;  // three sums of each class
  const std::string many = evaluation_text(evaluation_record(scores), {.unicode = true});
  CHECK_THAT(many, Contains("The most frequent confusions"));
}
