// Tasks that read a file: CMUdict's format, plain text, lists of names.
#include "headroom/data/file_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/base/utf8.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

// A headword in lower case with its pronunciations, phonemes separated by single spaces.
struct DictionaryEntry {
  std::string word;
  std::vector<std::string> pronunciations;
};

bool is_digit(char c) { return '0' <= c && c <= '9'; }

// "tomato(2)" -> "tomato"; "" when the number is malformed.
std::string headword_of(std::string_view field) {
  if (field.ends_with(')') && field.size() > 1) {
    const std::size_t open = field.rfind('(');
    if (open == std::string_view::npos || open == 0) return "";
    const std::string_view number = field.substr(open + 1, field.size() - open - 2);
    if (number.empty() || !std::all_of(number.begin(), number.end(), is_digit)) return "";
    field = field.substr(0, open);
  }
  std::string word(field);
  for (char& c : word) {
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return word;
}

// Upper-case letters, then an optional stress mark: "AH0".
bool is_phoneme(std::string_view text) {
  if (text.size() > 1 && '0' <= text.back() && text.back() <= '2') text.remove_suffix(1);
  return std::all_of(text.begin(), text.end(), [](char c) { return 'A' <= c && c <= 'Z'; });
}

std::string_view next_field(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string_view field = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(field.size());
  return field;
}

class DictionaryReader {
 public:
  explicit DictionaryReader(const TaskOptions& options)
      : audit_(options.data, options.skip_bad_lines), stress_(options.stress) {}

  void read_line(std::string_view line, Index number) {
    if (find_malformed_utf8(line)) {
      audit_.bad(number, "not valid UTF-8", "the line is not valid UTF-8");
      return;
    }
    if (line.starts_with(";;;") || line.starts_with('#')) return;
    line = line.substr(0, line.find(" #"));
    const std::string_view field = next_field(line);
    if (field.empty()) return;
    const std::string word = headword_of(field);
    if (word.empty()) {
      audit_.bad(number, "malformed variant number",
                 fmt::format("malformed variant number in \"{}\"", printable(field)));
      return;
    }
    std::string pronunciation;
    for (std::string_view phoneme = next_field(line); !phoneme.empty();
         phoneme = next_field(line)) {
      if (!is_phoneme(phoneme)) {
        audit_.bad(number, "malformed phoneme",
                   fmt::format("malformed phoneme \"{}\" after \"{}\"", printable(phoneme),
                               printable(field)));
        return;
      }
      if (!stress_ && is_digit(phoneme.back())) phoneme.remove_suffix(1);
      if (!pronunciation.empty()) pronunciation += ' ';
      pronunciation += phoneme;
    }
    if (pronunciation.empty()) {
      audit_.bad(number, "no phonemes", fmt::format("no phonemes after \"{}\"", printable(field)));
      return;
    }
    add(word, pronunciation);
  }

  SkippedLines finish(Index lines) const { return audit_.finish(lines); }
  const std::vector<DictionaryEntry>& entries() const { return entries_; }

 private:
  // Pronunciations that differ by stress only are merged.
  void add(const std::string& word, const std::string& pronunciation) {
    const auto [place, is_new] = places_.emplace(word, entries_.size());
    if (is_new) entries_.push_back({word, {}});
    auto& known = entries_[place->second].pronunciations;
    if (std::find(known.begin(), known.end(), pronunciation) == known.end()) {
      known.push_back(pronunciation);
    }
  }

  LineAudit audit_;
  bool stress_;
  std::map<std::string, std::size_t> places_;
  std::vector<DictionaryEntry> entries_;
};

}  // namespace

Split split_of_word(std::string_view headword, Index index, WordSplit rule) {
  if (rule == WordSplit::cmusphinx) {
    const Index place = index % 20;
    return place < 17 ? Split::train : place < 19 ? Split::test : Split::validation;
  }
  const std::uint64_t share = hash_name(headword) % 100;
  return share < 90 ? Split::train : share < 95 ? Split::validation : Split::test;
}

Seq2SeqTask read_g2p_task(const TaskOptions& options) {
  const std::string text = read_raw_text(options.data);
  const auto lines = lines_of(text);
  DictionaryReader reader(options);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    reader.read_line(lines[i], Index(i) + 1);
  }
  SkippedLines skipped = reader.finish(std::ssize(lines));

  std::string all_words, all_phonemes;
  for (const DictionaryEntry& entry : reader.entries()) {
    all_words += entry.word;
    for (const std::string& phonemes : entry.pronunciations) all_phonemes += phonemes + " ";
  }
  Seq2SeqTask task{.name = "g2p",
                   .source = Vocabulary::of_text(TokenKind::characters, Specials::all, all_words),
                   .target = Vocabulary::of_text(TokenKind::words, Specials::all, all_phonemes),
                   .train = {},
                   .validation = {},
                   .test = {},
                   .skipped = std::move(skipped)};
  for (Index index = 0; const DictionaryEntry& entry : reader.entries()) {
    const Tokens source = task.source.encode(entry.word);
    std::vector<Tokens> answers;
    for (const std::string& phonemes : entry.pronunciations) {
      answers.push_back(task.target.encode(phonemes));
    }
    switch (split_of_word(entry.word, index++, options.split)) {
      case Split::train:
        for (const Tokens& answer : answers) task.train.push_back({source, answer});
        break;
      case Split::validation: task.validation.push_back({source, answers}); break;
      case Split::test: task.test.push_back({source, answers}); break;
    }
  }
  if (task.train.empty()) {
    throw DataError(
        fmt::format("{}: the dictionary has no words left for training", options.data.string()));
  }
  return task;
}

TextCorpus read_text_corpus(const TaskOptions& options) {
  const std::string text = read_text(options.data);
  TextCorpus corpus{.name = "text",
                    .vocabulary = Vocabulary::of_text(TokenKind::characters, Specials::none, text),
                    .train = {},
                    .validation = {}};
  const Tokens tokens = corpus.vocabulary.encode(text);
  const auto cut = tokens.begin() + static_cast<std::ptrdiff_t>(tokens.size() * 9 / 10);
  corpus.train.assign(tokens.begin(), cut);
  corpus.validation.assign(cut, tokens.end());
  if (corpus.validation.size() < 2) {  // a character, and the next one to predict
    throw DataError(
        fmt::format("{}: the text is too short: it has {} characters, at least 11 are needed",
                    options.data.string(), tokens.size()));
  }
  const Index trained = std::ssize(corpus.train);
  if (trained <= options.window) {
    throw DataError(
        fmt::format("{}: windows of {} characters need a longer text: {} characters are for "
                    "training, so that windows of at most {} fit",
                    options.data.string(), options.window, trained, trained - 1),
        {"length"});
  }
  return corpus;
}

NameList read_names(const TaskOptions& options) {
  const std::string text = read_raw_text(options.data);
  const auto lines = lines_of(text);
  LineAudit audit(options.data, options.skip_bad_lines);
  std::vector<std::string_view> names;
  std::string letters;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto number = Index(i) + 1;
    if (find_malformed_utf8(lines[i])) {
      audit.bad(number, "not valid UTF-8", "the line is not valid UTF-8");
    } else if (lines[i].find_first_not_of(" \t") == std::string_view::npos) {
      audit.bad(number, "empty", "an empty line");
    } else {
      names.push_back(lines[i]);
      letters += lines[i];
    }
  }
  NameList list{.vocabulary = Vocabulary::of_text(TokenKind::characters, Specials::bos, letters),
                .names = {},
                .skipped = audit.finish(std::ssize(lines))};
  for (const std::string_view name : names) list.names.push_back(list.vocabulary.encode(name));
  return list;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
