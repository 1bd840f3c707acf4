// Attention maps of one text: in the terminal, and as a page on which heads can be switched off.
// Both depend on records (records/attention_record.hpp, records/model_record.hpp), not on models.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

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

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
