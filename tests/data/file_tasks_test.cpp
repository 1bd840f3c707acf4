// Data from outside: every kind of file, and what is said about bad ones.
#include "headroom/data/file_tasks.hpp"

#include <cstdlib>
#include <numeric>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/data/embedded_tasks.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Contains;
using Catch::EndsWith;

namespace {

// Every word with its accepted pronunciations, whatever set it is in.
std::map<std::string, std::set<std::string>> pronunciations(const Seq2SeqTask& task) {
  std::map<std::string, std::set<std::string>> result;
  for (const auto& example : task.train) {
    result[task.source.decode(example.source)].insert(task.target.decode(example.target));
  }
  for (const auto* set : {&task.validation, &task.test}) {
    for (const auto& question : *set) {
      for (const Tokens& answer : question.answers) {
        result[task.source.decode(question.source)].insert(task.target.decode(answer));
      }
    }
  }
  return result;
}

// Pairs to train on and answers to accept.
std::size_t count_answers(const Seq2SeqTask& task) {
  std::size_t count = task.train.size();
  for (const auto* set : {&task.validation, &task.test}) {
    for (const auto& question : *set) count += question.answers.size();
  }
  return count;
}

const std::string dictionary =
    ";;; a comment\n"
    "abbey AE1 B IY0\n"
    "aalborg AO1 L B AO0 R G # place, danish\n"
    "aalborg(2) AA1 L B AO0 R G\n"
    "aalborg(3) AA0 L B AO1 R G\n"
    "d'arc  D  AA1 R K\t\n"
    "\n"
    "ABSALOM AE1 B S AH0 L AH0 M\n";

}  // namespace

TEST_CASE("a dictionary is read with its variants, comments and capitals, stress kept or not") {
  const TemporaryFolder folder;
  const auto path = folder.file("small.dict", dictionary);
  const Seq2SeqTask plain = read_g2p_task({.data = path});
  CHECK(pronunciations(plain) == std::map<std::string, std::set<std::string>>{
                                     {"abbey", {"AE B IY"}},
                                     {"aalborg", {"AO L B AO R G", "AA L B AO R G"}},
                                     {"d'arc", {"D AA R K"}},
                                     {"absalom", {"AE B S AH L AH M"}}});
  CHECK(count_answers(plain) == 5);  // two of aalborg's differ by stress only
  CHECK(plain.skipped.total() == 0);
  const Seq2SeqTask stressed = read_g2p_task({.data = path, .stress = true});
  CHECK(pronunciations(stressed).at("aalborg") ==
        std::set<std::string>{"AO1 L B AO0 R G", "AA1 L B AO0 R G", "AA0 L B AO1 R G"});
  CHECK(count_answers(stressed) == 6);
}

TEST_CASE("line endings of any kind, a byte order mark and a missing last ending change nothing") {
  const TemporaryFolder folder;
  const auto expected = pronunciations(read_g2p_task({.data = folder.file("a", dictionary)}));
  for (const std::string ending : {"\r\n", "\r"}) {
    std::string text = "\xEF\xBB\xBF";
    for (const char c : dictionary) text += c == '\n' ? ending : std::string(1, c);
    CHECK(pronunciations(read_g2p_task({.data = folder.file("b", text)})) == expected);
  }
  const std::string open_end = dictionary.substr(0, dictionary.size() - 1);
  CHECK(pronunciations(read_g2p_task({.data = folder.file("c", open_end)})) == expected);
}

TEST_CASE("a bad line of a dictionary is reported with its number, or skipped and counted") {
  const TemporaryFolder folder;
  const auto [line, detail, reason] = GENERATE(table<std::string, std::string, std::string>({
      {"ABSALOM", "no phonemes after \"ABSALOM\"", "no phonemes"},
      {"absalom # AE B", "no phonemes after \"absalom\"", "no phonemes"},
      {"word(x) AE1", "malformed variant number in \"word(x)\"", "malformed variant number"},
      {"word() AE1", "malformed variant number in \"word()\"", "malformed variant number"},
      {"(2) AE1", "malformed variant number in \"(2)\"", "malformed variant number"},
      {"word) AE1", "malformed variant number in \"word)\"", "malformed variant number"},
      {"word AE1 b", "malformed phoneme \"b\" after \"word\"", "malformed phoneme"},
      {"word AE3", "malformed phoneme \"AE3\" after \"word\"", "malformed phoneme"},
      {"word 1", "malformed phoneme \"1\" after \"word\"", "malformed phoneme"},
      {"w\xFFrd AE1", "the line is not valid UTF-8", "not valid UTF-8"},
  }));
  const auto path = folder.file("broken.dict", dictionary + line + "\r\nlast L AE1 S T\r\n");
  CHECK_THROWS_AS(read_g2p_task({.data = path}), DataError);
  CHECK_THROWS_WITH(read_g2p_task({.data = path}),
                    path.string() + ":9: " + detail + "; 1 bad line of 10; correct or skip it");
  const Seq2SeqTask task = read_g2p_task({.data = path, .skip_bad_lines = true});
  CHECK(pronunciations(task).size() == 5);
  CHECK(task.skipped.count_by_reason == std::map<std::string, Index>{{reason, 1}});
}

TEST_CASE("several bad lines are counted by reason") {
  const TemporaryFolder folder;
  const auto path = folder.file("broken.dict", "a\nb\nc AE1\nd x\n" + dictionary);
  CHECK_THROWS_WITH(
      read_g2p_task({.data = path}),
      path.string() + ":1: no phonemes after \"a\"; 3 bad lines of 12; correct or skip them");
  CHECK(read_g2p_task({.data = path, .skip_bad_lines = true}).skipped.text() ==
        "3 lines skipped: 1 malformed phoneme, 2 no phonemes");
}

TEST_CASE("what is no text file is refused in one line") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(read_text(folder / "none"), EndsWith("cannot read: No such file or directory"));
  CHECK_THROWS_AS(read_text(folder.path()), FileError);
  CHECK_THROWS_WITH(read_text(folder.file("empty", "")), EndsWith("empty: the file has no text"));
  CHECK_THROWS_WITH(read_text(folder.file("blank", "\xEF\xBB\xBF \r\n\t\r\n")),
                    EndsWith("the file has no text"));
  CHECK_THROWS_WITH(read_text(folder.file("binary", std::string("a\r\nb\0c", 6))),
                    EndsWith("binary:2: NUL byte; this is not a text file"));
  CHECK_THROWS_WITH(read_text(folder.file("utf16",
                                          "\xFF\xFE"
                                          "a")),
                    EndsWith("utf16:1: byte 1 of the line is not valid UTF-8"));
  CHECK_THROWS_WITH(read_text(folder.file("latin", "a\rb\r\n\xC3\xA9 caf\xE9\n")),
                    EndsWith("latin:3: byte 7 of the line is not valid UTF-8"));
  CHECK_THROWS_AS(read_g2p_task({.data = folder.file("none.dict", ";;; nothing here\n")}),
                  DataError);
}

TEST_CASE("lines are counted as an editor counts them") {
  CHECK(lines_of("a\n\nb") == std::vector<std::string_view>{"a", "", "b"});
  CHECK(lines_of("a\n") == std::vector<std::string_view>{"a"});
  CHECK(lines_of("\n\n") == std::vector<std::string_view>{"", ""});
  CHECK(lines_of("").empty());
}

TEST_CASE("a text is cut into nine tenths and one, by characters") {
  const TemporaryFolder folder;
  const std::string text = "caf\xC3\xA9\r\nb\rc\nabcdefghij";  // 19 characters
  const TextCorpus corpus = read_text_corpus({.data = folder.file("text", text)});
  CHECK(corpus.train.size() == 17);
  CHECK(corpus.validation.size() == 2);
  CHECK(corpus.vocabulary.decode(corpus.train) == "caf\xC3\xA9\nb\nc\nabcdefgh");
  CHECK(corpus.vocabulary.decode(corpus.validation) == "ij");
  CHECK(corpus.vocabulary.token(0) == "\n");
}

TEST_CASE("a text that is too short to train on or to validate on is refused with what helps") {
  const TemporaryFolder folder;
  const auto read = [&](std::size_t characters, Index window) {
    std::string text;
    for (std::size_t i = 0; i < characters; ++i) text += "\xC3\xA9";  // two bytes each
    return read_text_corpus({.data = folder.file("text", text), .window = window});
  };
  for (const std::size_t characters : {1u, 3u, 10u}) {
    CHECK_THROWS_AS(read(characters, 0), DataError);
    CHECK_THROWS_WITH(read(characters, 64),
                      EndsWith("text: the text is too short: it has " + std::to_string(characters) +
                               " characters, at least 11 are needed"));
  }
  CHECK(read(11, 8).validation.size() == 2);
  CHECK_THROWS_AS(read(11, 9), DataError);
  CHECK_THROWS_WITH(read(20, 64),
                    EndsWith("text: windows of 64 characters need a longer text: "
                             "18 characters are for training, so that windows of at most 17 fit"));
  CHECK(read(20, 17).train.size() == 18);
}

TEST_CASE("names are read one a line") {
  const TemporaryFolder folder;
  const auto path = folder.file("names", "emma\nzo\xC3\xAB\n\nava");
  CHECK_THROWS_WITH(read_names({.data = path}),
                    Contains("names:3: an empty line; 1 bad line of 4"));
  const NameList list = read_names({.data = path, .skip_bad_lines = true});
  CHECK(list.names.size() == 3);
  CHECK(list.vocabulary.decode(list.names.at(1)) == "zo\xC3\xAB");
  CHECK(list.vocabulary.size() == 1 + 7);
  CHECK(list.skipped.text() == "1 line skipped: 1 empty");
}

namespace {

Split split_by_letters(std::string_view word, Index index = 0) {
  return split_of_word(word, index, WordSplit::letters);
}

}  // namespace

TEST_CASE("a word's set depends on its letters alone") {
  CHECK(split_by_letters("headroom") == split_by_letters(std::string("head") + "room", 17));
  std::map<Split, int> counts;
  for (int i = 0; i < 20'000; ++i) ++counts[split_by_letters("word" + std::to_string(i))];
  CHECK(std::abs(counts[Split::train] - 18'000) < 300);
  CHECK(std::abs(counts[Split::validation] - 1'000) < 150);
  CHECK(std::abs(counts[Split::test] - 1'000) < 150);
}

TEST_CASE("words stay in their sets for ever, so that results of years can be compared") {
  for (const char* word : {"headroom", "softmax", "query", "transformer"}) {
    CHECK(split_by_letters(word) == Split::train);
  }
  for (const char* word : {"value", "room"}) CHECK(split_by_letters(word) == Split::validation);
  CHECK(split_by_letters("attention") == Split::test);
}

TEST_CASE("the split of CMUSphinx takes the places of the headwords in the file") {
  const TemporaryFolder folder;
  std::string text = ";;; a comment\n";
  std::vector<std::string> words;
  for (int i = 0; i < 45; ++i) {
    words.push_back(std::string{char('a' + i / 26), char('a' + i % 26)});
    text += words.back() + " AH0 T\n";
    if (i % 7 == 0) text += words.back() + "(2) EH1 T\n";  // counts as the same word
  }
  const Seq2SeqTask task =
      read_g2p_task({.data = folder.file("a.dict", text), .split = WordSplit::cmusphinx});
  const auto words_of = [&](const std::vector<Seq2SeqQuestion>& questions) {
    std::vector<std::string> found;
    for (const auto& question : questions) found.push_back(task.source.decode(question.source));
    return found;
  };
  CHECK(words_of(task.test) ==
        std::vector<std::string>{words[17], words[18], words[37], words[38]});
  CHECK(words_of(task.validation) == std::vector<std::string>{words[19], words[39]});
  CHECK(task.train.size() == 39 + 7);  // and the second pronunciations of 0, 7, 14, 21, 28, 35, 42
}

TEST_CASE("the usual answer to a question is its first") {
  const std::vector<Seq2SeqQuestion> questions{{{4, 5}, {{6}, {7, 8}}}, {{}, {{9}}}};
  const std::vector<Seq2SeqExample> pairs = first_answers(questions);
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].source == Tokens{4, 5});
  CHECK(pairs[0].target == Tokens{6});
  CHECK(pairs[1].target == Tokens{9});
}

TEST_CASE("an unknown task is refused with the list and the nearest, and --data where it belongs") {
  CHECK_THROWS_WITH(
      make_task("date"),
      "task: \"date\" is not one of reverse, sort, brackets, numbers, spelling, dates, g2p, text "
      "(did you mean dates?)");
  CHECK_THROWS_WITH(make_task("g2p"), "task g2p needs a data file");
  CHECK_THROWS_WITH(make_task("dates", {.data = "x"}), Contains("takes no data file"));
  for (const TaskOptions& sizes :
       {TaskOptions{.train = 1, .data = "x"}, TaskOptions{.validation = 1, .data = "x"},
        TaskOptions{.test = 1, .data = "x"}}) {
    CHECK_THROWS_WITH(make_task("g2p", sizes), Contains("reads its examples from a file"));
  }
  CHECK(std::holds_alternative<ClassificationTask>(
      make_task("brackets", {.train = 10, .validation = 2, .test = 2})));
  for (const TaskInfo& info : task_list()) {
    if (info.needs_data) continue;
    CHECK_NOTHROW(make_task(info.name, {.train = 10, .validation = 2, .test = 2}));
  }
}

TEST_CASE("a program's own task is made by its name and listed after the others") {
  const TaskFactory make = [](const TaskOptions& options) -> Task {
    Seq2SeqTask task = make_reverse_task(options);
    task.name = "echo";
    for (auto& example : task.train) example.target = example.source;
    return task;
  };
  add_task({"echo", "the same again", false}, make);
  CHECK(task_list().back().summary == "the same again");
  const auto task = std::get<Seq2SeqTask>(make_task("echo", {.train = 3}));
  CHECK(task.train.at(2).target == task.train.at(2).source);
  CHECK_THROWS_WITH(make_task("eco"), Contains("did you mean echo?"));
  CHECK_THROWS_WITH(make_task("echo", {.data = "x"}), Contains("takes no data file"));
  CHECK_THROWS_WITH(add_task({"echo", "", false}, make), Contains("echo exists already"));
  CHECK_THROWS_WITH(add_task({"dates", "", false}, make), Contains("dates exists already"));
  CHECK_THROWS_WITH(add_task({"", "", false}, make), Contains("needs a name"));
  CHECK_THROWS_WITH(add_task({"none", "", false}, {}), Contains("no function"));
}

TEST_CASE("the real CMUdict is read whole, its words kept apart by set") {
  const char* folder = std::getenv("HEADROOM_DATA");
  if (folder == nullptr) {
    WARN("skipped: HEADROOM_DATA names no folder");
    return;
  }
  const auto path = std::filesystem::path(folder) / "cmudict.dict";
  const Seq2SeqTask task = read_g2p_task({.data = path, .stress = true});
  const auto all = pronunciations(task);
  std::set<std::string> trained;
  for (const auto& example : task.train) trained.insert(task.source.decode(example.source));
  const std::size_t words = trained.size() + task.validation.size() + task.test.size();
  CHECK(words == all.size());  // so no word is in two sets
  CHECK(words > 120'000);
  const auto entries =
      std::accumulate(all.begin(), all.end(), std::size_t{0},
                      [](std::size_t sum, const auto& entry) { return sum + entry.second.size(); });
  CHECK(entries == 135'164);  // of 135,166 lines two repeat a pronunciation
  const auto share = [&](std::size_t part) { return double(part) / double(words); };
  CHECK(std::abs(share(trained.size()) - 0.90) < 0.005);
  CHECK(std::abs(share(task.validation.size()) - 0.05) < 0.005);
  CHECK(std::abs(share(task.test.size()) - 0.05) < 0.005);
  CHECK(read_g2p_task({.data = path}).target.size() == 4 + 39);  // the phonemes of ARPAbet
}
