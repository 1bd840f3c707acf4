// Attention maps of one text: in the terminal, and as a page on which heads can be switched off.
// Both depend on records (records/attention_record.hpp, records/model_record.hpp), not on models.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headroom_lab/report/terminal.hpp"
#include "headroom_runs/records/attention_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Which maps to show: of one kind, layer, head; left out: all.
struct HeadSelection {
  std::optional<AttentionKind> kind{};
  std::optional<Index> layer{}, head{};
};

/// Throws UsageError, naming the heads that exist, if the selection matches none of them.
void check_selection(const AttentionRecord& record, const HeadSelection& selection);

/// The input, the answer, and the selected maps, with a line of heads for every layer.
std::string attend_text(const AttentionRecord& record, const HeadSelection& selection,
                        const TerminalStyle& style);

/// Writes the page. The record has a title, a page_model and, if there is one, an environment.
/// Throws UsageError without a page_model, and FileError.
void write_attend_page(const AttentionRecord& record, const std::filesystem::path& file);

/// The same page as text. Throws UsageError without a page_model.
std::string attend_page(const AttentionRecord& record);

/// The author of a model that reads dates, and its training.
struct MakerRecord {
  std::string name{};                    // "" if it is not to be told
  std::vector<std::string> functions{};  // those of the maker that the training called
  std::string made{};                    // a sentence on the training
  using T = MakerRecord;
  using Fields = Listed<&T::name, &T::functions, &T::made>;
};

/// A page to send to others, as text: type a date, switch heads off, and see who made the model.
/// Throws UsageError without a page_model, or if it was left out.
std::string dates_page(const AttentionRecord& record, const MakerRecord& maker);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
