// Pages and terminal texts of the laboratory. They know records (lab/lab_record.hpp), not models.
#pragma once

#include <filesystem>
#include <string>

#include "headroom/base/record.hpp"
#include "headroom/report/terminal.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Writes the page of an experiment: the answer, the question, what is computed, what must hold and
/// every block. Besides what lab/lab_record.hpp lists, the record may have "command", "environment"
/// and, when the page stands among others, "nav": {"index", "previous", "next"}, each {"name",
/// "file"}. Throws FileError as write_report() does.
void write_lab_page(const Record& record, const std::filesystem::path& file);

/// Writes the page that links the pages of several experiments: a list of records, each with
/// "file", the page's name in the same folder.
void write_lab_index(const Record& records, const std::filesystem::path& file);

/// Writes all pages of a run from its records.json anew: of one experiment ("kind": "lab") the page
/// `file`; of all ({"kind": "lab-all", "command", "experiments": [...]}) one for each and the page
/// that links them, `file`. Throws FileError as above, DataError for records of another form.
void write_lab_run(const Record& records, const std::filesystem::path& file);

/// True for the records of a run of the laboratory.
bool is_lab_run(const Record& records);

/// The page that opens a run of the laboratory: report.html, or index.html with all experiments.
const char* lab_front_page(const Record& records);

/// The same pages as texts, with the given Chart.js in them.
std::string lab_page(const Record& record, const std::string& chart_js);
std::string lab_index_page(const Record& records, const std::string& chart_js);

/// An experiment for a terminal: everything that the page says; curves as tables.
std::string lab_text(const Record& record, const TerminalStyle& style);

/// The answer in one text, with what the other precision says otherwise.
std::string lab_answer(const Record& record);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
