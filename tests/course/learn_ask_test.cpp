// Files with predictions and questions that are wrong.
#include "course/learn_ask.hpp"

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;

TEST_CASE("a chapter without ask.json asks nothing") {
  const TemporaryFolder folder;
  const ChapterAsk ask = read_ask(folder.path());
  CHECK(ask.predictions.empty());
  CHECK(ask.questions.empty());
}

TEST_CASE("predictions and questions are read") {
  const TemporaryFolder folder;
  folder.file("ask.json", R"({
    "predictions": {"08/a": {"ask": "Which digit?"}, "08/b": {"ask": "When?", "words": ["never"]}},
    "questions": [{"ask": "Why?", "options": ["x", "y"], "right": 1, "because": ["no", "yes"]}]})");
  const ChapterAsk ask = read_ask(folder.path());
  REQUIRE(ask.predictions.size() == 2);
  CHECK(ask.predictions.at("08/a").ask == "Which digit?");
  CHECK(ask.predictions.at("08/b").words == std::vector<std::string>{"never"});
  REQUIRE(ask.questions.size() == 1);
  CHECK(ask.questions[0].right == 1);
  CHECK(ask.questions[0].because[1] == "yes");
}

TEST_CASE("a wrong ask.json is refused with one line that names the place") {
  const TemporaryFolder folder;
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& c : {
           Case{"{", "ask.json"},
           {R"({"question": []})", "question"},
           {R"({"predictions": {"8/a": {"ask": "x"}}})", "\"8/a\" is no name"},
           {R"({"predictions": {"08/a": {"ask": ""}}})", "predictions.08/a.ask is empty"},
           {R"({"questions": [{"ask": "x", "options": ["a"], "right": 0, "because": ["b"]}]})",
            "options has 1 entries, not 2 to 4"},
           {R"({"questions": [{"ask": "x", "options": ["a", "b"], "right": 2,
                "because": ["c", "d"]}]})",
            "right is 2, but the options are counted from 0 to 1"},
           {R"({"questions": [{"ask": "x", "options": ["a", "b"], "right": 0, "because": ["c"]}]})",
            "because has 1 entries for 2 options"},
           {R"({"questions": [{"ask": "x", "options": ["a", "a"], "right": 0,
                "because": ["c", "d"]}]})",
            "one text twice"},
           {R"({"questions": [{"ask": "x", "options": ["a", ""], "right": 0,
                "because": ["c", "d"]}]})",
            "options[1] is empty"},
           {R"({"questions": [{"ask": "x", "options": ["a", "b"], "right": "0",
                "because": ["c", "d"]}]})",
            "questions[0].right"},
       }) {
    INFO(c.text);
    folder.file("ask.json", c.text);
    try {
      read_ask(folder.path());
      FAIL("was accepted");
    } catch (const DataError& error) {
      const std::string message = error.what();
      INFO(message);
      CHECK(message.find(c.message) != std::string::npos);
      CHECK(message.find('\n') == std::string::npos);
    }
  }
}
