// Encodes lines with the tokenizer of a folder, for the scripts that compare headroom with others.
//
// usage: tokenize_lines FOLDER [lines|specials|target]   each line of standard input is a text as
//          JSON; prints a line {"ids": [...], "text": "..."} with the decoded text
//        tokenize_lines FOLDER time FILE   a line on standard input after the other: encodes the
//          lines of the file, and prints the seconds that it took and the number of tokens
//        tokenize_lines unicode            prints the version of Unicode
#include <utf8proc.h>

#include <chrono>
#include <iostream>
#include <string>

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/data/text_lines.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_foreign/headroom_foreign.hpp"

using namespace headroom;

namespace {

Tokens encoded(const ForeignTokenizer& tokenizer, const std::string& text, const std::string& how) {
  if (how == "specials") return tokenizer.encode_with_specials(text);
  if (how == "target") {
    return dynamic_cast<const SentencePieceTokenizer&>(tokenizer).encode_target(text);
  }
  return tokenizer.encode(text);
}

// Encodes a file for each line of standard input, so that others can be measured in between.
void print_seconds(const ForeignTokenizer& tokenizer, const std::string& file) {
  const std::string text = read_file(file);
  const std::vector<std::string_view> lines = lines_of(text);
  for (std::string line; std::getline(std::cin, line);) {
    const auto begin = std::chrono::steady_clock::now();
    std::size_t count = 0;
    for (const std::string_view part : lines) count += tokenizer.encode(part).size();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::cout << seconds.count() << ' ' << count << std::endl;
  }
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw UsageError("usage: tokenize_lines FOLDER [lines|specials|target]");
  if (arguments[0] == "unicode") {
    std::cout << utf8proc_unicode_version() << '\n';
    return 0;
  }
  const auto tokenizer = open_tokenizer(arguments[0]);
  const std::string how = arguments.size() > 1 ? arguments[1] : "lines";
  if (how == "time") {
    print_seconds(*tokenizer, arguments.at(2));
    return 0;
  }
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    const Tokens ids = encoded(*tokenizer, Record::parse(line).get<std::string>(), how);
    Record result;
    result["ids"] = ids;
    result["text"] = tokenizer->decode(ids);
    std::cout << result.dump() << '\n';
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
