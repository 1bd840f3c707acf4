// Examples for models of folders: which texts belong together, which are left out, which labels
// there are.
#include "headroom_runs/tables/folder_data.hpp"

#include <fmt/format.h>

#include <cctype>
#include <set>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/small_folders.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Contains;

namespace {

/// A BERT with the letters a to f, in any case.
struct Letters {
  explicit Letters(SmallFolder small = small_folder("BertModel"), const std::string& more = "") {
    files.file("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\ne\nf\n" + more);
    small.write(files);
  }
  FolderData read(FolderObjective objective, const std::string& name, const std::string& text,
                  Shares shares = {2, 1, 1}, Index length = 6) const {
    const ModelFolder folder = open_model_folder(files.path());
    return read_folder_data(folder, objective, {.data = files.file(name, text)}, {.shares = shares},
                            length);
  }
  TemporaryFolder files;
};

std::set<Tokens> tokens_of(const std::vector<const std::vector<FolderExample>*>& sets) {
  std::set<Tokens> all;
  for (const auto* set : sets) {
    for (const FolderExample& example : *set) all.insert(example.tokens);
  }
  return all;
}

}  // namespace

TEST_CASE("texts that the model reads alike are in one set") {
  std::string text;
  for (const char* const end : {"", " e", " f", " E"}) {  // cut: 6 tokens have room for 4
    for (const char* const word : {"a b", "c d", "f a", "b b", "e c", "d f", "a a", "c f"}) {
      text += word + std::string(" a b") + end + "\n";
      std::string upper = word;
      for (char& c : upper) c = char(std::toupper(c));
      text += upper + " A b" + end + "\n";
    }
  }
  const Letters letters;
  const FolderTask task = letters.read(FolderObjective::keep, "a.txt", text).task;
  const auto train = tokens_of({&task.train}),
             held = tokens_of({&task.importance, &task.selection, &task.validation}),
             test = tokens_of({&task.test});
  CHECK(train.size() + held.size() + test.size() == 8);
  CHECK(train.size() == 4);
  CHECK(task.train.size() == 32);
}

TEST_CASE("a text without tokens is left out, and the data say so") {
  const Letters letters;
  const std::string without = "a\n\u200b\nb\nc\nd\n\u200b\u200b\ne\nf\na b\nb a\n";
  const FolderData data = letters.read(FolderObjective::keep, "a.txt", without, {1, 2, 1});
  CHECK_THAT(data.text, Contains("2 lines skipped: 2 without tokens"));
  const FolderTask& task = data.task;
  CHECK(tokens_of({&task.train, &task.importance, &task.selection, &task.validation, &task.test})
            .size() == 8);
}

TEST_CASE("labels of a new classifier are in the order of numbers where they are numbers") {
  const Letters letters;
  const auto labels = [&](const std::string& rows) {
    return labels_of_table({.data = letters.files.file("a.tsv", "text\tlabel\n" + rows)}, {},
                           letters.files.path());
  };
  using Labels = std::vector<std::string>;
  CHECK(labels("a\t10\nb\t9\nc\t-1\nd\t2\n") == Labels{"-1", "2", "9", "10"});
  CHECK(labels("a\t10\nb\t9\nc\tx\n\u200b\tnone\n") == Labels{"10", "9", "x"});
}

TEST_CASE("labels are read as the numbers of classes only where the data say so") {
  SmallFolder small = small_folder("BertForSequenceClassification");
  small.json["id2label"] = {{"0", "low"}, {"1", "high"}, {"2", "low"}};
  const Letters letters(small);
  const auto table = [](const char* first, const char* second) {
    std::string rows = "text\tlabel\n";
    for (const char a : std::string("abcdef")) {
      rows += fmt::format("{0}\t{1}\n{0} a\t{2}\n", a, first, second);
    }
    return rows;
  };
  const FolderData numbers = letters.read(FolderObjective::classify, "a.tsv", table("0", "2"));
  CHECK_THAT(numbers.text, Contains("labels are the numbers of the classes: 0 is low"));
  CHECK_THROWS_WITH(letters.read(FolderObjective::classify, "a.tsv", table("low", "high")),
                    Contains("the same name for two classes; give labels as numbers"));

  small.json["problem_type"] = "regression";
  CHECK_THROWS_WITH(Letters(small).read(FolderObjective::classify, "a.tsv", table("0", "2")),
                    Contains("the 3 outputs are numbers, not classes"));
}

TEST_CASE("tokens that no text has may lack an embedding") {
  const std::string text = "a\nb\nc\nd\ne\nf\na b\nb a\n";
  const auto read = [&](const std::string& config, const std::string& more) {
    const Letters letters(small_folder("BertModel"), more);
    letters.files.file("tokenizer_config.json", config);
    return letters.read(FolderObjective::keep, "a.txt", text, {1, 2, 1});
  };
  CHECK(read(R"({"pad_token": "[LAST]"})", "[LAST]\n").task.train.size() == 2);
  CHECK(read("{}", "other\n").task.train.size() == 2);  // no text has it
  CHECK_THROWS_WITH(read(R"({"sep_token": "[LAST]"})", "[LAST]\n"),
                    Contains("the tokenizer has the id 11, but the model has 11 embeddings"));
}
