// Reads the master file of an exercise.
#include "course/learn_master.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr std::string_view mark = "//! ";

/// "key: value" in two parts; nothing without a colon.
std::optional<std::pair<std::string, std::string>> key_and_value(std::string_view text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  return std::pair(std::string(text.substr(0, colon)), std::string(text.substr(colon + 2)));
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// A line of a skeleton or a wrong answer without its "// ".
std::string uncommented(const std::string& line) {
  const std::size_t slashes = line.find("//");
  if (slashes == std::string::npos) return line;
  std::string code = line;
  return code.erase(slashes, code.compare(slashes, 3, "// ") == 0 ? 3 : 2);
}

/// A part of the file: for all answers, or a block with a part for each answer that differs.
using Block = std::map<std::string, std::string>;

class Parser {
 public:
  Parser(const std::filesystem::path& path, const std::string& text) : path_(path), lines_(text) {
    file_.answers = {{"solution", "", ""}, {"skeleton", MasterFile::not_implemented, ""}};
  }

  MasterFile parse() {
    blocks_.emplace_back();
    for (std::string line; std::getline(lines_, line);) {
      ++number_;
      const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
      if (line.compare(begin, mark.size(), mark) != 0) {
        add(line);
      } else if (in_head_) {
        describe(line.substr(begin + mark.size()));
      } else {
        direct(line.substr(begin + mark.size()));
      }
    }
    if (!answer_.empty()) fail("a block without //! end");
    finish();
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& text) const {
    throw DataError(fmt::format("{}:{}: {}", path_.string(), number_, text));
  }

  void add(const std::string& line) {
    in_head_ = false;
    if (answer_.empty()) {
      blocks_.back()["solution"] += line + "\n";
    } else {
      blocks_.back()[answer_] += (answer_ == "solution" ? line : uncommented(line)) + "\n";
    }
  }

  Index number_of(const std::string& value) const {
    Index number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size()) fail("not a number: " + value);
    return number;
  }

  /// A line of the head.
  void describe(const std::string& line) {
    if (line.starts_with("  ")) {
      if (last_ == nullptr) fail("nothing to continue");
      *last_ += "\n" + line.substr(2);
      return;
    }
    const auto entry = key_and_value(line);
    if (!entry) fail("expected \"key: value\"");
    const auto& [key, value] = *entry;
    last_ = nullptr;
    if (key == "minutes") {
      file_.minutes = number_of(value);
    } else if (key == "difficulty") {
      file_.difficulty = number_of(value);
    } else if (key == "mistake") {
      file_.answers[1].promised = value;
    } else if (key == "needs") {
      file_.needs = words_of(value);
    } else if (key == "hint") {
      last_ = &file_.hints.emplace_back(value);
    } else if (key == "title" || key == "replaces" || key == "path" || key == "after") {
      last_ = &(key == "title"      ? file_.title
                : key == "replaces" ? file_.replaces
                : key == "path"     ? file_.path
                                    : file_.after);
      *last_ = value;
    } else {
      fail("unknown key " + key);
    }
  }

  /// A line that begins or ends a part of a block.
  void direct(const std::string& line) {
    if (line == "solution") {
      if (!answer_.empty()) fail("a block in a block");
      blocks_.emplace_back();
      answer_ = line;
    } else if (answer_.empty()) {
      fail("expected //! solution");
    } else if (line == "end") {
      blocks_.emplace_back();
      answer_.clear();
    } else if (line == "skeleton") {
      answer_ = line;
    } else if (line.starts_with("wrong ")) {
      const auto entry = key_and_value(line.substr(6));
      if (!entry) fail("expected \"wrong NAME: TEXT\"");
      answer_ = entry->first;
      const auto known = [&](const CourseAnswer& answer) { return answer.name == answer_; };
      if (std::none_of(file_.answers.begin(), file_.answers.end(), known)) {
        file_.answers.push_back({answer_, entry->second, ""});
      }
    } else {
      fail("expected solution, skeleton, wrong NAME: TEXT or end");
    }
    if (!answer_.empty()) blocks_.back()[answer_];  // a part may be empty
  }

  void finish() {
    for (CourseAnswer& answer : file_.answers) {
      for (const Block& block : blocks_) {
        const auto own = block.find(answer.name);
        if (own != block.end()) {
          answer.code += own->second;
        } else if (const auto solution = block.find("solution"); solution != block.end()) {
          answer.code += solution->second;
        }
      }
    }
  }

  const std::filesystem::path& path_;
  std::istringstream lines_;
  Index number_ = 0;
  bool in_head_ = true;
  std::string* last_ = nullptr;  // the text that a line of the head continues
  std::string answer_;           // the answer whose part is read; empty outside of blocks
  std::vector<Block> blocks_;
  MasterFile file_;
};

}  // namespace

MasterFile read_master(const std::filesystem::path& path) {
  return Parser(path, read_file(path)).parse();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
