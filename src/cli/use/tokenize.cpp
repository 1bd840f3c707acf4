// `headroom tokenize`: the tokens of texts, as the model reads them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "cli/frame/command.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_foreign/tokenizers/open_tokenizer.hpp"
#include "headroom_runs/runs/open_model.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct TokenizeOptions {
  std::string model, file = "-";
  bool plain = false, json = false;
};

std::shared_ptr<const Tokenizer> tokenizer_of(const std::filesystem::path& path) {
  if (is_model_folder(path)) return open_tokenizer(path);
  const SavedModel saved = open_model(path);
  const char* name = saved.config.kind == ModelKind::seq2seq ? "source" : "tokens";
  saved.tokenizer(name);  // throws if there is none
  return saved.tokenizers[name];
}

void print_tokens(const Tokenizer& tokenizer, const std::string& text,
                  const TokenizeOptions& options) {
  Tokens ids = tokenizer.encode(text);
  if (!options.plain) ids = tokenizer.framed(std::move(ids));
  std::vector<std::string> tokens;
  for (const std::int32_t id : ids) tokens.push_back(tokenizer.token(id));
  if (options.json) {
    const Record record{{"text", text}, {"ids", ids}, {"tokens", tokens}};
    fmt::print("{}\n", record.dump());
    return;
  }
  for (std::string& token : tokens) token = shown(token);
  fmt::print("{}\n{}\n", fmt::join(tokens, " "), fmt::join(ids, " "));
}

int tokenize(const TokenizeOptions& options) {
  const std::shared_ptr<const Tokenizer> tokenizer = tokenizer_of(any_model_folder(options.model));
  std::ifstream file;
  if (options.file != "-") {
    if (std::filesystem::is_directory(options.file)) {
      throw FileError(options.file + ": is a folder");
    }
    file.open(options.file, std::ios::binary);
    if (!file) throw FileError(options.file + ": cannot be opened");
  }
  std::istream& lines = options.file == "-" ? std::cin : file;
  Index number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    try {
      print_tokens(*tokenizer, line, options);
    } catch (const DataError& error) {
      throw DataError(fmt::format("{}: line {}: {}",
                                  options.file == "-" ? "standard input" : options.file, number,
                                  error.what()));
    }
  }
  return 0;
}

}  // namespace

Command add_tokenize(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("tokenize", "Shows the tokens of texts, as a model reads them");
  const auto options = std::make_shared<TokenizeOptions>();
  app->add_option(
         "--model", options->model,
         "folder of a run, a checkpoint, or a model folder of Transformers (default: the newest "
         "run in runs/, or a sample)")
      ->type_name("PATH");
  app->add_option("FILE", options->file, "lines of text; - is standard input")
      ->type_name("")
      ->capture_default_str();
  app->add_flag("--plain", options->plain, "without the special tokens around a text");
  app->add_flag("--json", options->json, "print a JSON object per line, with ids and tokens");
  app->footer(
      fmt::format("Example: echo 'Which heads matter?' | {} tokenize --model MODEL", invocation()));
  return {app, [options] { return tokenize(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
