// Options that several commands share.
#include "cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/text.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

std::string before_column(const std::string& text, Index column) {
  return padded(text + " ", column);
}

CLI::Validator at_least(Index least, Index most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    Index number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc::result_out_of_range) return text + " is too large";
    if (error != std::errc() || rest != end) {
      return fmt::format("\"{}\" is not a whole number", text);
    }
    // CLI11 would read octal.
    if (text != fmt::format("{}", number)) return fmt::format("write {} as {}", text, number);
    return number < least  ? fmt::format("{} is less than {}", text, least)
           : number > most ? fmt::format("{} is more than {}", text, most)
                           : std::string();
  };
  return CLI::Validator(check, "", "at_least");
}

CLI::Validator one_of(std::vector<std::string> words) {
  const auto check = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return fmt::format("\"{}\" is not one of {}{}", text, fmt::join(words, ", "),
                       did_you_mean(text, words));
  };
  return CLI::Validator(check, "", "one_of");
}

CLI::Option* add_threads(CLI::App& command) {
  const auto use = [](const int& threads) { set_num_threads(threads); };
  return command
      .add_option_function<int>("--threads", use, "number of threads (default: all cores)")
      ->type_name("N")
      ->check(at_least(1, 1024));
}

CLI::Option* add_model(CLI::App& command, std::string& model) {
  return command.add_option("--model", model, "folder of a run (default: the newest in runs/)")
      ->type_name("DIR");
}

CLI::Option* add_out(CLI::App& command, std::string& out, const std::string& what) {
  return command.add_option("--out", out, what + " (default: a new one in runs/)")
      ->type_name("DIR");
}

std::pair<RunFolder, FileLock> new_run(const std::string& out, const std::string& name,
                                       bool force) {
  if (force && fs::is_directory(out)) {  // nothing is removed from a run that is training
    FileLock lock = lock_run(out);
    return {RunFolder(out, IfExists::force), std::move(lock)};
  }
  RunFolder folder = out.empty() ? RunFolder::fresh("runs", name) : RunFolder(out);
  FileLock lock = lock_run(folder.path());
  return {std::move(folder), std::move(lock)};
}

fs::path model_folder(const std::string& model, const char* option) {
  if (model.empty()) return newest_run("runs", option);
  if (!fs::exists(model)) throw FileError(fmt::format("{} {} does not exist", option, model));
  return model;
}

std::vector<HeadId> heads_from(const std::string& text, const std::string& origin) {
  std::vector<HeadId> heads;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    HeadId head;
    const char* at = word.data() + std::min(word.find(' ') + 1, word.size());
    const char* const last = word.data() + word.size();
    at = std::from_chars(at, last, head.layer).ptr;
    std::from_chars(std::min(at + 1, last), last, head.head);
    const auto kinds = all_of<AttentionKind>();
    const bool known = std::any_of(kinds.begin(), kinds.end(), [&](AttentionKind kind) {
      head.kind = kind;
      return head.text() == word;
    });
    if (!known) {
      throw UsageError(fmt::format(
          "{}: \"{}\" is not a head; heads are written as \"cross 1.3\" (kind, layer, head), "
          "separated by commas",
          origin, word));
    }
    if (std::find(heads.begin(), heads.end(), head) != heads.end()) {
      throw UsageError(fmt::format("{}: {} is listed twice", origin, word));
    }
    heads.push_back(head);
    begin = end + 1;
  }
  return heads;
}

void require(bool right, const std::string& text) {
  if (!right) throw UsageError(text);
}

void require_heads_divide(Index heads, Index width) {
  if (width % heads == 0) return;
  Index fewer = heads, more = heads;
  while (width % fewer != 0) --fewer;
  while (more < width && width % more != 0) ++more;
  throw UsageError(fmt::format(
      "--heads {} must divide --width {} (try {})", heads, width,
      width % more == 0 ? fmt::format("{} or {}", fewer, more) : fmt::format("{}", fewer)));
}

void require_free_file(const fs::path& file) {
  std::error_code failed;
  if (!fs::exists(file, failed)) return;
  throw FileError(fmt::format("--out {} exists (choose another path, or use --force to replace it)",
                              file.string()));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
