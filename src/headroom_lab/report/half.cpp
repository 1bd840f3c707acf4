// The answers to "which half of the heads can go?": their means and their board.
#include "headroom_lab/report/half.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "headroom/base/error.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/file_lock.hpp"
#include "headroom/io/json.hpp"
#include "headroom_lab/blocks/table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The lock of a board. Another process holds it for a few milliseconds.
FileLock lock_board(const std::filesystem::path& file) {
  const std::filesystem::path lock = file.string() + ".lock";
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (std::optional<FileLock> mine = FileLock::if_free(lock)) return std::move(*mine);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  throw FileError(fmt::format("{}: {} is writing to it; try again when it has ended", file.string(),
                              FileLock::holder(lock)));
}

}  // namespace

std::vector<HalfChoice> HalfRecord::means() const {
  std::vector<HalfChoice> means;
  for (const HalfModel& model : models) {
    for (std::size_t c = 0; c < model.choices.size(); ++c) {
      const HalfChoice& choice = model.choices[c];
      if (c == means.size()) means.push_back({.by = choice.by});
      const auto n = double(models.size());
      means[c].after += choice.after / n;
      means[c].recovered += choice.recovered / n;
      means[c].exact += choice.exact / n;
      if (choice.rank) means[c].rank = means[c].rank.value_or(0) + *choice.rank / n;
    }
  }
  return means;
}

HalfAnswer answer_of(const HalfRecord& record) {
  HalfAnswer answer{.date = record.date, .recovery = record.recovery};
  const auto n = double(record.models.size());
  for (const HalfModel& model : record.models) {
    const auto yours = std::find_if(model.choices.begin(), model.choices.end(),
                                    [](const HalfChoice& choice) { return choice.by == "you"; });
    if (yours == model.choices.end()) throw UsageError("answer_of: there is no choice of yours");
    const double rank = yours->rank.value_or(0);
    answer.models.push_back({model.seed, yours->removed, yours->after, yours->recovered, rank});
    answer.after += yours->after / n;
    answer.recovered += yours->recovered / n;
    answer.rank += rank / n;
  }
  if (answer.models.empty()) throw UsageError("answer_of: there is no model");
  return answer;
}

HalfBoard read_half_board(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  const std::string name = file.string();
  const Record record = parse_json(read_file(file), name);
  const auto version = record.is_object() ? record.find("version") : record.end();
  if (version != record.end() && version->is_number_integer() &&
      version->get<Index>() > HalfBoard::current_version) {
    throw DataError(fmt::format(
        "{}: is of a later version of headroom; use that one, or move the file away", name));
  }
  return struct_of<HalfBoard>(record, name);
}

void add_to_half_board(const std::filesystem::path& file, const HalfAnswer& answer) {
  const FileLock lock = lock_board(file);
  HalfBoard board = read_half_board(file);
  board.answers.push_back(answer);
  write_file(file, json_of(board).dump(2) + "\n");
}

std::string half_board_text(const HalfBoard& board, const TerminalStyle& style) {
  std::vector<HalfAnswer> answers = board.answers;
  std::stable_sort(answers.begin(), answers.end(), [](const HalfAnswer& a, const HalfAnswer& b) {
    return a.recovered < b.recovered;
  });
  Table table{.columns = {"date", "models", "right after", "rank of 924", "recovered"}};
  std::string choices;
  for (const HalfAnswer& answer : answers) {
    std::string seeds;
    choices += fmt::format("\n{}\n", answer.date);
    for (const HalfAnswer::Model& model : answer.models) {
      seeds += fmt::format("{}{}", seeds.empty() ? "" : ",", model.seed);
      choices += fmt::format("  model {}  {}\n", model.seed, model.removed);
    }
    table.rows.push_back({answer.date, seeds, fmt::format("{:.2f}", answer.after),
                          fmt::format("{:.0f}", answer.rank),
                          fmt::format("{:.3f}", answer.recovered)});
  }
  return "Which half of the heads can go? Mean losses, the lowest after recovery first.\n\n" +
         table_text(table, style) + choices +
         "\nA difference between two answers proves nothing by itself: recovery depends on\n"
         "luck, and these are few models. Does yours hold for others?\n";
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
