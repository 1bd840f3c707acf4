// Pages and terminal texts of the laboratory. They depend on records (lab/lab_record.hpp), not on
// models.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "headroom_lab/lab/lab_record.hpp"
#include "headroom_lab/report/terminal.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Writes the page of an experiment: the answer, the question, the procedure, the claims and every
/// block. Throws FileError as write_report() does.
void write_lab_page(const LabRecord& record, const std::filesystem::path& file);

/// Writes all pages of a run: one for each experiment, named by its record's `file`, and the page
/// that links them, `file`. Throws FileError as above.
void write_lab_pages(const LabRun& run, const std::filesystem::path& file);

/// Writes all pages of a run from its records.json anew: of one experiment ("kind": "lab") the page
/// `file`; of all ("kind": "lab-all") one for each and the page that links them, `file`; of answers
/// beside PyTorch ("kind": "lab-answers") one for each, in the folder of `file`. Throws FileError
/// as above, DataError for records of another form.
void write_lab_run(const Record& records, const std::filesystem::path& file);

/// Returns true for the records of a run of the laboratory.
bool is_lab_run(const Record& records);

/// The page that opens a run of the laboratory: report.html, index.html with all experiments, or
/// the page of the first answer. Throws DataError for records of another form.
std::string lab_front_page(const Record& records);

/// The same pages as texts, with the given Chart.js in them. Each experiment of the index has a
/// `file`, the name of its page in the same folder.
std::string lab_page(const LabRecord& record, const std::string& chart_js);
std::string lab_index_page(const LabRun& run, const std::string& chart_js);

/// The page of a question from a forum: the program in PyTorch beside the one in headroom, the line
/// that both print, the answer in one sentence and the figure. Throws UsageError for a record
/// without a program in PyTorch.
std::string lab_answer_page(const LabRecord& record, const std::string& chart_js);

/// The question, the line that both programs print and the sentence, for a terminal.
std::string lab_answer_text(const LabRecord& record, const TerminalStyle& style);

/// An experiment for a terminal: the same content as the page, with curves as tables.
std::string lab_text(const LabRecord& record, const TerminalStyle& style);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
