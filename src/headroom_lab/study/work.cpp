// Records of the jobs of a study.
#include "headroom_lab/study/work.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

#include "headroom/io/atomic_file.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/file_lock.hpp"
#include "headroom/io/json.hpp"
#include "headroom/ops/blas.hpp"
#include "headroom_runs/runs/manifest.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

StudyWork work_done_now(double seconds) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return {.seconds = seconds,
          .finished = utc_text(now),
          .machine = machine_name(),
          .processor = processor_description(),
          .blas = blas_description(),
          .version = fmt::format("{} ({})", HEADROOM_VERSION, is_double ? "double" : "float")};
}

std::string utc_text(std::time_t time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time));
}

std::optional<std::time_t> utc_time(const std::string& text) {
  std::tm parts = {};
  const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return timegm(&parts);
}

std::string shell_text(const std::vector<std::string>& words) {
  constexpr const char* plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
    text += '\'';
  }
  return text;
}

void write_work(const std::filesystem::path& file, const StudyWork& work) {
  write_file(file, json_of(work).dump(2) + "\n");
}

std::optional<StudyWork> read_work(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  return struct_of<StudyWork>(parse_json(read_file(file), file.string()), file.string());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
