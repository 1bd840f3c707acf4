// Renumbers the tokens of a task.
#include "headroom_runs/tables/given_vocabulary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/json.hpp"
#include "headroom_runs/tables/table_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

Vocabulary read_vocabulary(const Record& record, const char* name, const std::string& origin) {
  const std::string where = fmt::format("{}: \"vocabulary.{}\"", origin, name);
  if (!record.contains(name)) throw FileError(where + " is missing");
  return Vocabulary::from_record(record[name], where);
}

/// The number of each token of one vocabulary in another.
class Renumbering {
 public:
  Renumbering(const Vocabulary& from, const Vocabulary& to) {
    if (from.kind() != to.kind()) {
      throw DataError(fmt::format("the data are {}, but the model reads and predicts {}",
                                  name_of(from.kind()), name_of(to.kind())),
                      {"symbols"});
    }
    const bool ends = from.specials() != Specials::none && to.specials() != Specials::none;
    for (std::int32_t id = 0; id < from.size(); ++id) {
      const std::string& token = from.token(id);
      if (from.knows(token) && to.knows(token)) {
        numbers_[id] = to.encode(token).front();
      } else if (ends && id == from.bos()) {
        numbers_[id] = to.bos();
      } else if (to.specials() == Specials::all) {
        numbers_[id] = to.unk();
      } else if (from.knows(token)) {
        lacking_.push_back(token);
      }
    }
    if (lacking_.empty()) return;
    throw DataError(
        fmt::format(
            "the model does not know \"{}\"{}; it has {} {}", printable(lacking_.front()),
            lacking_.size() == 1 ? "" : fmt::format(" and {} other symbols", lacking_.size() - 1),
            to.plain_size(), name_of(to.kind())),
        {"data"});
  }

  void operator()(Tokens& tokens) const {
    for (std::int32_t& token : tokens) token = numbers_.at(token);
  }

 private:
  std::map<std::int32_t, std::int32_t> numbers_;
  std::vector<std::string> lacking_;
};

void renumber(Seq2SeqTask& task, const Record& vocabulary, const std::string& origin) {
  const Vocabulary source = read_vocabulary(vocabulary, "source", origin),
                   target = read_vocabulary(vocabulary, "target", origin);
  const Renumbering sources(task.source, source), targets(task.target, target);
  for (Seq2SeqExample& example : task.train) {
    sources(example.source);
    targets(example.target);
  }
  for (auto* set : {&task.validation, &task.test}) {
    for (Seq2SeqQuestion& question : *set) {
      sources(question.source);
      for (Tokens& answer : question.answers) targets(answer);
    }
  }
  task.source = source;
  task.target = target;
}

void renumber(ClassificationTask& task, const Record& vocabulary, const std::string& origin) {
  const Vocabulary tokens = read_vocabulary(vocabulary, "tokens", origin);
  const Renumbering all(task.tokens, tokens);
  std::vector<std::string> classes;
  const Record& named = vocabulary.contains("classes") ? vocabulary["classes"] : Record();
  for (const Record& name : named) {
    if (!name.is_string()) throw FileError(origin + ": \"vocabulary.classes\" must be texts");
    classes.push_back(name.get<std::string>());
  }
  std::vector<std::int32_t> numbers;
  for (const std::string& name : task.classes) {
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end()) {
      throw DataError(
          fmt::format("the model has no class \"{}\"; its classes are \"{}\"", printable(name),
                      printable(fmt::format("{}", fmt::join(classes, "\", \"")), 200)),
          {"data"});
    }
    numbers.push_back(static_cast<std::int32_t>(found - classes.begin()));
  }
  for (auto* set : {&task.train, &task.validation, &task.test}) {
    for (LabelledExample& example : *set) {
      all(example.tokens);
      example.label = at(numbers, example.label);
    }
  }
  task.tokens = tokens;
  task.classes = classes;
}

void renumber(TextCorpus& text, const Record& vocabulary, const std::string& origin) {
  const Vocabulary tokens = read_vocabulary(vocabulary, "tokens", origin);
  const Renumbering all(text.vocabulary, tokens);
  all(text.train);
  all(text.validation);
  text.vocabulary = tokens;
}

}  // namespace

Record vocabulary_of(const SavedModel& saved) {
  Record record{{"kind", name_of(saved.config.kind)}};
  if (saved.config.kind == ModelKind::seq2seq) {
    record["source"] = saved.vocabulary("source").record();
    record["target"] = saved.vocabulary("target").record();
    return record;
  }
  record["tokens"] = saved.vocabulary("tokens").record();
  if (saved.config.kind == ModelKind::classifier) record["classes"] = classes_of(saved);
  return record;
}

Task in_vocabulary(Task task, const Record& vocabulary, const std::string& origin) {
  const std::string kind = json_text(vocabulary, "kind", origin);
  const std::string needed =
      name_of(std::holds_alternative<Seq2SeqTask>(task)          ? ModelKind::seq2seq
              : std::holds_alternative<ClassificationTask>(task) ? ModelKind::classifier
                                                                 : ModelKind::language_model);
  if (kind != needed) {
    throw UsageError(fmt::format("the task needs a {}, but the model is a {}", needed, kind),
                     {"task"});
  }
  std::visit([&](auto& one) { renumber(one, vocabulary, origin); }, task);
  return task;
}

std::string text_with_unknown(const Vocabulary& vocabulary, const Tokens& tokens) {
  std::string text;
  if (vocabulary.kind() == TokenKind::bytes) {  // a character is several tokens
    for (auto at = tokens.begin();; ++at) {
      const auto unknown = std::find(at, tokens.end(), vocabulary.unk());
      text += vocabulary.decode({at, unknown});
      if (unknown == tokens.end()) return text;
      text += vocabulary.token(*unknown);
      at = unknown;
    }
  }
  for (const std::int32_t token : tokens) {
    if (!text.empty() && vocabulary.kind() == TokenKind::words) text += " ";
    text += vocabulary.token(token);
  }
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
