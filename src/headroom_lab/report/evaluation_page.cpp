// The page of an evaluation: tables, the worst examples, and the maps of the one that is chosen.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "headroom/base/error.hpp"
#include "headroom/base/text.hpp"
#include "headroom/data/vocabulary.hpp"
#include "headroom_lab/report/evaluation.hpp"
#include "report/compose_page.hpp"
#include "report/page.hpp"
#include "report/page_table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// What attend is asked for an example: its input, and for a window of a text its tokens behind the
/// first as the output.
AttentionQuestion question_of(WorstExample& worst, const SavedModel& saved) {
  const Tokens& tokens = worst.scores.tokens;
  if (saved.config.kind == ModelKind::language_model) {
    const Vocabulary vocabulary = saved.vocabulary("tokens");
    worst.asked = vocabulary.decode(std::span(tokens).first(1));
    worst.given = vocabulary.decode(std::span(tokens).subspan(1));
  }
  AttentionQuestion question{.input = worst.asked, .output = worst.given};
  if (!worst.given) question.tokens = tokens;
  return question;
}

/// Whether an input has <unk>, which a text on the page cannot have.
bool has_unknown(const Tokens& tokens, const SavedModel& saved) {
  if (saved.config.kind == ModelKind::language_model) return false;
  const char* name = saved.config.kind == ModelKind::seq2seq ? "source" : "tokens";
  return std::find(tokens.begin(), tokens.end(), saved.vocabulary(name).unk()) != tokens.end();
}

std::string title_of(const EvaluationRecord& record) {
  const std::string all = with_commas(record.examples);
  if (const auto perplexity = record.measures.find("perplexity");
      record.measures.contains("bits_per_character") && perplexity != record.measures.end()) {
    return fmt::format("A perplexity of {} on {} windows of text",
                       figure_text(perplexity->second.value), all);
  }
  if (record.wrong == 0) return fmt::format("All {} examples are right", all);
  return fmt::format("{} of {} examples are wrong", with_commas(record.wrong), all);
}

}  // namespace

AttentionRecord attention_of_worst(EvaluationRecord& record, const SavedModel& saved,
                                   std::size_t most_bytes) {
  if (record.worst.empty()) throw UsageError("an evaluation without examples has no page");
  WorstExample& first = record.worst.front();
  AttentionRecord shown = attention_record(saved, question_of(first, saved));
  shown.model.file = record.model;
  std::vector<AttentionRecord> maps;
  for (WorstExample& worst : record.worst) {
    maps.push_back(attention_record(saved, question_of(worst, saved)));
  }
  shown.page_model = page_model_record(saved, shown.ids);  // rounds the weights
  const bool is_live = shown.page_model->left_out.empty();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    if ((is_live && !has_unknown(record.worst[i].scores.tokens, saved)) || bytes > most_bytes) {
      continue;
    }
    bytes += json_of(maps[i].example).dump().size();
    record.worst[i].example = std::move(maps[i].example);
    record.worst[i].answer = std::move(maps[i].answer);
  }
  return shown;
}

std::string evaluation_page(const EvaluationRecord& record, const AttentionRecord& shown) {
  if (!shown.page_model) throw UsageError("evaluation page: page_model is missing");
  Record contents = json_of(shown);
  Record evaluation = json_of(record);
  for (std::size_t i = 0; i < record.tables.size(); ++i) {
    evaluation["tables"][i] = for_page(record.tables[i]);
  }
  contents["evaluation"] = std::move(evaluation);
  std::string script;
  for (const std::string_view part :
       {page::model_js, page::answers_js, page::evaluation_js, page::attend_js}) {
    script.append(part).append("\n");
  }
  const std::string summary = fmt::format(
      "A trained model on {}: {} examples. The table of the worst ones shows their "
      "attention maps.",
      record.data, with_commas(record.examples));
  return compose_page(title_of(record), summary, contents, "", script);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
