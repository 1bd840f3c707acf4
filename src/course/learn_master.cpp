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

std::size_t indentation(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

std::string stripped(const std::string& line) { return line.substr(indentation(line)); }

using Lines = std::vector<std::string>;

/// Lines of the file that belong together.
struct Part {
  Index number = 0;  // of the first line
  Lines lines;
};

/// A part of the file: for all answers, or a block with a part for each answer that differs.
using Block = std::map<std::string, Part>;

bool is_patch(const Part& part) {
  return std::any_of(part.lines.begin(), part.lines.end(), [](const std::string& line) {
    return stripped(line).starts_with("//-") || stripped(line).starts_with("//+");
  });
}

/// A part of a patch. Its lines begin with ' ', '-' or '+'; those with ' ' and '-' are consecutive
/// lines of the code, apart from their indentation.
using Hunk = Part;

/// The lines of a hunk with one of these marks, without it.
Lines marked(const Hunk& hunk, std::string_view marks) {
  Lines found;
  for (const std::string& line : hunk.lines) {
    if (marks.find(line[0]) != std::string_view::npos) found.push_back(line.substr(1));
  }
  return found;
}

/// The indices in the code at which a hunk applies.
std::vector<std::size_t> places_of(const Hunk& hunk, const Lines& code) {
  const Lines old = marked(hunk, " -");
  const auto same = [](const std::string& a, const std::string& b) {
    return stripped(a) == stripped(b);
  };
  std::vector<std::size_t> places;
  auto at = code.begin();
  while ((at = std::search(at, code.end(), old.begin(), old.end(), same)) != code.end()) {
    places.push_back(std::size_t(at++ - code.begin()));
  }
  return places;
}

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
    last_ = nullptr;
    if (answer_.empty()) {
      blocks_.back()["solution"].lines.push_back(line);
    } else {
      blocks_.back()[answer_].lines.push_back(line);
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
    } else if (line.starts_with("  ") && last_ != nullptr) {
      *last_ += " " + stripped(line);
      ++blocks_.back()[answer_].number;
      return;
    } else if (line.starts_with("wrong ") || line.starts_with("mistake ")) {
      const auto entry = key_and_value(line.substr(line.find(' ') + 1));
      if (!entry) fail("expected \"wrong NAME: TEXT\" or \"mistake NAME: SENTENCE\"");
      answer_ = entry->first;
      const auto known = [&](const CourseAnswer& answer) { return answer.name == answer_; };
      ignored_.clear();
      last_ = &ignored_;  // its text was said in another block
      if (std::none_of(file_.answers.begin(), file_.answers.end(), known)) {
        file_.answers.push_back({answer_, entry->second, "", line.starts_with("mistake ")});
        last_ = &file_.answers.back().promised;
      }
    } else {
      fail("expected solution, skeleton, wrong NAME: TEXT, mistake NAME: SENTENCE or end");
    }
    if (!answer_.empty()) blocks_.back()[answer_].number = number_ + 1;  // a part may be empty
  }

  /// The hunks of a patch, without "//".
  std::vector<Hunk> hunks_of(const Part& patch) {
    number_ = patch.number;
    std::vector<Hunk> hunks{{number_, {}}};
    for (const std::string& line : patch.lines) {
      const std::string text = stripped(line) + (stripped(line) == "//" ? " " : "");
      if (text == "// ...") {
        hunks.push_back({number_ + 1, {}});
      } else if (text.starts_with("// ") || text.starts_with("//-") || text.starts_with("//+")) {
        hunks.back().lines.push_back(text.substr(2));
      } else {
        fail("a line of a patch begins with \"// \", \"//-\" or \"//+\"");
      }
      ++number_;
    }
    return hunks;
  }

  /// The index in the code at which a hunk applies.
  std::size_t place_of(const Hunk& hunk, const Lines& code) {
    number_ = hunk.number;
    const Lines old = marked(hunk, " -");
    if (old.empty()) fail("add a line of the solution, \"// LINE\": it says where this belongs");
    if (old == marked(hunk, " +")) fail("this changes nothing; \"//-\" removes, \"//+\" adds");
    const std::vector<std::size_t> places = places_of(hunk, code);
    if (places.size() == 1) return places[0];
    fail(fmt::format("the lines \"// \" and \"//-\" from here on are {} of the solution; {}",
                     places.empty() ? "not consecutive lines" : "at more than one place",
                     places.empty() ? "copy them, or put \"// ...\" between two places"
                                    : "add a line before or after them, \"// LINE\""));
  }

  /// The code with a patch applied. An added line is as far from the first line of its hunk as it
  /// is in the patch.
  Lines patched(const Lines& code, const std::vector<Hunk>& hunks) {
    std::multimap<std::size_t, const Hunk*> in_order;
    for (const Hunk& hunk : hunks) in_order.emplace(place_of(hunk, code), &hunk);
    Lines result;
    auto at = code.begin();
    for (const auto& [place, hunk] : in_order) {
      const auto begin = code.begin() + std::ptrdiff_t(place);
      number_ = hunk->number;
      if (begin < at) fail("overlaps other lines of the patch; join them, without \"// ...\"");
      result.insert(result.end(), at, begin);
      at = begin;
      const std::size_t margin = indentation(*begin);
      const std::size_t own_margin = indentation(marked(*hunk, " -")[0]);
      for (const std::string& line : hunk->lines) {
        if (line[0] == '+') {
          const std::string text = stripped(line.substr(1));
          const std::size_t indent = text.empty() ? 0 : indentation(line.substr(1)) + margin;
          result.push_back(std::string(indent - std::min(indent, own_margin), ' ') + text);
        } else if (const std::string& old = *at++; line[0] == ' ') {
          result.push_back(old);
        }
      }
    }
    result.insert(result.end(), at, code.end());
    return result;
  }

  void finish() {
    for (CourseAnswer& answer : file_.answers) {
      Lines code;
      std::vector<Hunk> hunks;
      for (Block& block : blocks_) {
        const auto own = block.find(answer.name);
        const bool is_other = own != block.end() && answer.name != "solution";
        if (is_other && is_patch(own->second)) {
          const std::vector<Hunk> more = hunks_of(own->second);
          hunks.insert(hunks.end(), more.begin(), more.end());
        }
        const bool is_whole = is_other && !is_patch(own->second);
        for (const std::string& line : (is_whole ? own->second : block["solution"]).lines) {
          code.push_back(is_whole ? uncommented(line) : line);
        }
      }
      for (const std::string& line : patched(code, hunks)) answer.code += line + "\n";
    }
  }

  const std::filesystem::path& path_;
  std::istringstream lines_;
  Index number_ = 0;
  bool in_head_ = true;
  std::string* last_ = nullptr;  // the text that a line continues
  std::string ignored_;          // what continues a text that was said before
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
