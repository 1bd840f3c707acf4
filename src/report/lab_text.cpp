// An experiment of the laboratory for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "headroom/lab/lab_record.hpp"
#include "headroom/report/lab.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr int widest_text = 100;  // longer lines are hard to read
constexpr int indent = 2;

/// The words of a text in lines of at most `width` columns, each after a margin.
std::string wrapped(const std::string& text, int width, int margin) {
  std::istringstream words(text);
  std::string lines, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && margin + display_width(line) + 1 + display_width(word) > width) {
      lines += std::string(static_cast<std::size_t>(margin), ' ') + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + std::string(static_cast<std::size_t>(margin), ' ') + line + "\n";
}

std::vector<std::string> texts_of(const Record& list) {
  std::vector<std::string> texts;
  for (const Record& value : list) texts.push_back(value.is_null() ? "" : figure_text(value));
  return texts;
}

std::vector<std::vector<std::string>> cells_of(const Record& rows) {
  std::vector<std::vector<std::string>> cells;
  for (const Record& row : rows) cells.push_back(texts_of(row));
  return cells;
}

/// A table; one that is wider than the line with its columns as rows, when that is narrower.
std::string fitted_table(std::vector<std::string> titles,
                         std::vector<std::vector<std::string>> rows, const TerminalStyle& style) {
  const std::string plain = table_text(titles, rows, style, 2 * indent);
  const auto widest = [](const std::string& text) {
    Index width = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      width = std::max(width, display_width(line));
    }
    return width;
  };
  if (widest(plain) <= style.columns) return plain;
  std::vector<std::string> top{titles.front()};
  for (const auto& row : rows) top.push_back(row.front());
  std::vector<std::vector<std::string>> turned;
  for (std::size_t c = 1; c < titles.size(); ++c) {
    turned.push_back({titles[c]});
    for (const auto& row : rows) turned.back().push_back(row[c]);
  }
  const std::string other = table_text(top, turned, style, 2 * indent);
  if (widest(other) >= widest(plain)) return plain;
  return fmt::format("{:{}}(turned to be narrower: each row was a column)\n", "", 2 * indent) +
         other;
}

/// The points of all curves by their common axis.
std::string chart_text(const Record& chart, const TerminalStyle& style) {
  std::vector<std::string> titles{chart["x"]};
  std::map<double, std::vector<std::string>> rows;
  const std::size_t columns = chart["series"].size() + 1;
  for (const Record& series : chart["series"]) {
    const std::size_t column = titles.size();
    titles.push_back(series["name"]);
    for (const Record& point : series["points"]) {
      std::vector<std::string>& row = rows[point[0].get<double>()];
      row.resize(columns);
      row[0] = figure_text(point[0]);
      row[column] = figure_text(point[1]);
    }
  }
  std::vector<std::vector<std::string>> cells;
  for (const auto& [x, row] : rows) cells.push_back(row);
  return fitted_table(titles, cells, style);
}

/// Stages with their shapes, all columns to the left.
std::string shapes_text(const Record& block) {
  const std::vector<std::vector<std::string>> rows = cells_of(block["rows"]);
  Index stage = 0, shape = 0;
  for (const auto& row : rows) {
    stage = std::max(stage, display_width(row[0]));
    shape = std::max(shape, display_width(row[1]));
  }
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("{:{}}{}   {}   {}\n", "", 2 * indent, padded(row[0], stage),
                        padded(row[1], shape), row[2]);
  }
  return text;
}

std::string maps_text(const Record& block, const TerminalStyle& style) {
  const std::vector<std::string> queries = block["queries"];
  // Keys are numbered below 10 columns of names: one letter each keeps the picture square.
  std::vector<std::string> keys;
  for (std::size_t k = 0; k < block["keys"].size(); ++k) keys.push_back(std::to_string(k % 10));
  std::string text = fmt::format("{:{}}shades: {}\n", "", 2 * indent, shades_text(style));
  for (const Record& map : block["maps"]) {
    std::vector<std::vector<double>> rows;
    for (const Record& row : map["rows"]) {
      rows.emplace_back();
      for (const Record& weight : row) {  // what JSON makes of NaN is no number
        rows.back().push_back(weight.is_number() ? weight.get<double>() : std::nan(""));
      }
    }
    text += fmt::format("{:{}}{}\n", "", 2 * indent, map["name"].get<std::string>());
    text += attention_map_text(keys, queries, rows, style, 3 * indent);
  }
  return text;
}

std::string matrices_text(const Record& block, const TerminalStyle& style) {
  std::string text;
  for (const Record& step : block["steps"]) {
    text += fmt::format("{:{}}{}\n", "", 2 * indent,
                        emphasised(fmt::format("{} = {}", step["name"].get<std::string>(),
                                               step["formula"].get<std::string>()),
                                   Emphasis::strong, style));
    for (const Record& part : step["parts"]) {
      text += fmt::format("{:{}}{} {}\n", "", 3 * indent, part["name"].get<std::string>(),
                          part["shape"].get<std::string>());
      for (const Record& row : part["corner"]) {
        text += std::string(static_cast<std::size_t>(4 * indent), ' ');
        for (const Record& number : row) text += padded(figure_text(number), 11, true);
        text += "\n";
      }
    }
  }
  return text;
}

std::string block_text(const Record& block, const TerminalStyle& style) {
  const std::string type = block["type"];
  const int width = std::min(style.columns, widest_text);
  std::string text =
      fmt::format("\n{}{}", wrapped(block["title"].get<std::string>(), width, indent),
                  wrapped(block["look"].get<std::string>(), width, 2 * indent));
  if (type == "chart") return text + chart_text(block, style);
  if (type == "shapes" && block["columns"].size() == 3) return text + shapes_text(block);
  if (type == "maps") return text + maps_text(block, style);
  if (type == "matrices") return text + matrices_text(block, style);
  return text + fitted_table(texts_of(block["columns"]), cells_of(block["rows"]), style);
}

std::string claims_text(const Record& record, const TerminalStyle& style) {
  std::string text = "\n  " + emphasised("What must hold", Emphasis::strong, style) + "\n";
  const int width = std::min(style.columns, widest_text);
  for (const Record& claim : record["claims"]) {
    bool holds = true;
    std::string numbers;
    for (const Record& precision : record["precisions"]) {
      const auto run = claim.find(precision.get<std::string>());
      if (run == claim.end()) continue;
      holds = holds && (*run)["holds"].get<bool>();
      numbers += fmt::format("{}{} {} {} {}", numbers.empty() ? "" : ",  ",
                             precision.get<std::string>(), figure_text((*run)["measured"]),
                             claim["relation"].get<std::string>(), figure_text((*run)["bound"]));
    }
    const char* mark = holds ? (style.unicode ? "✓" : "+") : (style.unicode ? "✗" : "x");
    std::string lines = wrapped(claim["text"], width, 3 * indent);
    lines.replace(static_cast<std::size_t>(2 * indent), 1,
                  emphasised(mark, holds ? Emphasis::good : Emphasis::bad, style));
    text += lines + std::string(static_cast<std::size_t>(4 * indent), ' ') +
            emphasised(numbers, holds ? Emphasis::faint : Emphasis::bad, style) + "\n";
  }
  return text;
}

/// "from a forum thread" or "of the gradient laboratory".
std::string origin_text(const Record& record) {
  const std::string asked_in = record["asked_in"];
  return asked_in.empty() ? "of " + record["group"].get<std::string>() : "from " + asked_in;
}

}  // namespace

std::string lab_text(const Record& record, const TerminalStyle& style) {
  const int width = std::min(style.columns, widest_text);
  const auto heading = [&](const char* word) {
    return "\n  " + emphasised(word, Emphasis::strong, style) + "\n";
  };
  const Record& options = record["options"];
  std::string precisions;
  for (const Record& precision : record["precisions"]) {
    precisions += (precisions.empty() ? "" : " and ") + precision.get<std::string>();
  }
  std::string text =
      "\n  " + emphasised(record["title"].get<std::string>(), Emphasis::strong, style) + "\n" +
      wrapped(fmt::format("{}; width {}, heads {}, seed {}, in {}", origin_text(record),
                          options["width"].dump(), options["heads"].dump(), options["seed"].dump(),
                          precisions),
              width, indent);
  text += heading("Question") + wrapped(record["question"], width, 2 * indent);
  text += heading("What is computed") + wrapped(record["computed"], width, 2 * indent);
  for (const Record& formula : record["formulas"]) {
    text += wrapped(formula, width, 4 * indent);
  }
  for (const Record& block : record["blocks"]) text += block_text(block, style);
  text += claims_text(record, style);
  return text + heading("Answer") + wrapped(lab_answer(record), width, 2 * indent);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
