// An experiment of the laboratory for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "headroom/base/error.hpp"
#include "headroom_lab/lab/formula.hpp"
#include "headroom_lab/report/lab.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr int widest_text = 100;  // longer lines are hard to read
constexpr int indent = 2;

/// A text in lines of at most `width` columns, each after a margin and with a newline.
std::string paragraph(const std::string& text, int width, int margin) {
  return wrapped(text, width, margin) + "\n";
}

// ---------------------------------------------------------------- the contents of a block

std::string contents(const Table& table, const TerminalStyle& style) {
  if (table.shown == "folded") {
    const std::string text = fmt::format("{} rows, in the JSON and on the page", table.rows.size());
    return paragraph(text, style.columns, 2 * indent);
  }
  return table_text(table, style, 2 * indent);
}
std::string contents(const Chart& chart, const TerminalStyle& style) {
  return contents(table_of(chart), style);
}

std::string contents(const LabMaps& block, const TerminalStyle& style) {
  // Keys get one character each, so that the picture stays square.
  std::vector<std::string> keys;
  for (std::size_t k = 0; k < block.keys.size(); ++k) keys.push_back(std::to_string(k % 10));
  std::string text = fmt::format("{:{}}shades: {}\n", "", 2 * indent, shades_text(style));
  if (block.top != 1) {
    text += paragraph(fmt::format("of magnitudes, as shares of {}", figure_text(block.top)),
                      style.columns, 2 * indent);
  }
  for (const LabMaps::Map& map : block.maps) {
    text += fmt::format("{:{}}{}{}{}\n", "", 2 * indent, map.joint, map.joint.empty() ? "" : " ",
                        map.name);
    std::vector<std::vector<double>> shares = map.rows;
    for (auto& row : shares) {
      for (double& number : row) number = std::abs(number) / block.top;
    }
    text += attention_map_text(keys, block.queries, shares, style, 3 * indent);
  }
  return text;
}

std::string range_text(const char* what, Index first, Index last, Index size) {
  if (first == 0 && last == size - 1) return fmt::format("all {}", what);
  return fmt::format("{} {} to {}", what, first, last);
}

std::string contents(const LabHeads& block, const TerminalStyle& style) {
  Table table{.columns = {"matrix", "head", "rows", "columns"}};
  for (const LabHeads::Matrix& matrix : block.matrices) {
    std::string name = fmt::format("{} [{}, {}]", matrix.name, matrix.rows, matrix.columns);
    for (const LabHeads::Block& one : matrix.blocks) {
      table.rows.push_back(
          {name, one.head, range_text("rows", one.first_row, one.last_row, matrix.rows),
           range_text("columns", one.first_column, one.last_column, matrix.columns)});
      name.clear();  // once for each matrix
    }
  }
  return contents(table, style);
}

std::string contents(const LabDerivation& block, const TerminalStyle& style) {
  std::string text;
  for (const LabDerivation::Step& step : block.steps) {
    const std::string formula = Formula(step.name + " = " + step.formula).text();
    text += emphasised(wrapped(formula, style.columns, 2 * indent), Emphasis::strong, style) + "\n";
    for (const LabDerivation::Part& part : step.parts) {
      text += fmt::format("{:{}}{} {}\n", "", 3 * indent, part.name, part.shape);
      for (const std::vector<double>& row : part.corner) {
        text += std::string(std::size_t(4 * indent), ' ');
        for (const double number : row) text += padded(figure_text(number), 11, true);
        text += "\n";
      }
    }
  }
  return text;
}

std::string block_text(const LabBlock& block, const TerminalStyle& style) {
  const int width = std::min(style.columns, widest_text);
  return std::visit(
      [&](const auto& kind) {
        return fmt::format("\n{}{}{}", paragraph(words(kind.title), width, indent),
                           paragraph(words(kind.caption), width, 2 * indent),
                           contents(kind, style));
      },
      block);
}

std::string claims_text(const LabRecord& record, const TerminalStyle& style) {
  const std::size_t all = record.claims.size(), failed = failed_claims(record).size();
  std::string text =
      "\n  " +
      emphasised(fmt::format("Claims: {} of {} hold", all - failed, all), Emphasis::strong, style) +
      "\n";
  const int width = std::min(style.columns, widest_text);
  for (const LabClaim& claim : record.claims) {
    bool holds = true;
    std::string numbers;
    for (const std::string& precision : record.precisions) {
      const auto run = claim.runs.find(precision);
      if (run == claim.runs.end()) continue;
      holds = holds && run->second.holds;
      numbers +=
          fmt::format("{}{} {} {} {}", numbers.empty() ? "" : ", ", precision,
                      figure_text(run->second.measured), claim.relation, run->second.bound_text());
    }
    const char* mark = holds ? (style.unicode ? "✓" : "+") : (style.unicode ? "✗" : "x");
    std::string lines = paragraph(claim.text, width, 3 * indent);
    lines.replace(std::size_t(2 * indent), 1,
                  emphasised(mark, holds ? Emphasis::good : Emphasis::bad, style));
    text += lines +
            emphasised(wrapped(numbers, width, 4 * indent), holds ? Emphasis::faint : Emphasis::bad,
                       style) +
            "\n";
  }
  return text;
}

/// The program, with its own line breaks.
std::string program_text(const LabRecord& record) {
  std::string text;
  std::istringstream lines(record.program);
  for (std::string line; std::getline(lines, line);) {
    text += line.empty() ? "\n" : std::string(std::size_t(2 * indent), ' ') + line + "\n";
  }
  return text;
}

/// "from a forum thread" or "from questions about gradients and training".
std::string origin_text(const LabRecord& record) {
  return "from " + (record.asked_in.empty() ? record.group : record.asked_in);
}

}  // namespace

std::string lab_answer_text(const LabRecord& record, const TerminalStyle& style) {
  if (!record.twin) throw UsageError(record.name + " has no program in PyTorch");
  const int width = std::min(style.columns, widest_text);
  return "\n  " + emphasised(record.title, Emphasis::strong, style) + "\n" +
         paragraph(record.question, width, indent) + "\n" +
         paragraph(record.twin->printed, width, 2 * indent) + "\n" +
         paragraph(record.twin->sentence, width, indent);
}

std::string lab_text(const LabRecord& record, const TerminalStyle& style) {
  const int width = std::min(style.columns, widest_text);
  const auto heading = [&](const char* word) {
    return "\n  " + emphasised(word, Emphasis::strong, style) + "\n";
  };
  std::string text =
      "\n  " + emphasised(record.title, Emphasis::strong, style) + "\n" +
      paragraph(fmt::format("{}; width {}, heads {}, seed {}, in {}", origin_text(record),
                            record.options.width, record.options.heads, record.options.seed,
                            fmt::join(record.precisions, " and ")),
                width, indent);
  text += heading("Question") + paragraph(record.question, width, 2 * indent);
  text += heading("Answer") + paragraph(words(record.answer), width, 2 * indent);
  const std::string remarks = words(record.remarks);
  if (!remarks.empty()) text += "\n" + paragraph(remarks, width, 2 * indent);
  if (!record.program.empty()) text += heading("Program") + program_text(record);
  text += heading("Computation") + paragraph(record.computed, width, 2 * indent);
  for (const std::string& formula : record.formulas) {
    text += paragraph(Formula(formula).text(), width, 4 * indent);
  }
  for (const LabBlock& block : record.blocks) text += block_text(block, style);
  return text + claims_text(record, style);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
