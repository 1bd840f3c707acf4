// Attention maps of one text for a terminal.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom_lab/report/attend.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace attend_terminal {
namespace {

constexpr int indent = 2, gap = 3;
constexpr std::pair<AttentionKind, const char*> kinds[] = {
    {AttentionKind::encoder_self,
     "encoder self-attention: rows are input tokens, columns the input tokens they attend to"},
    {AttentionKind::cross,
     "cross-attention: rows are the tokens being predicted, columns the input tokens"},
    {AttentionKind::decoder_self,
     "decoder self-attention: rows are the tokens being predicted, columns those before them"}};

bool selected(const HeadState& head, const HeadSelection& selection) {
  return (!selection.kind || head.id.kind == *selection.kind) &&
         (!selection.layer || head.id.layer == *selection.layer) &&
         (!selection.head || head.id.head == *selection.head);
}

/// Replaces line ends, tabs and control characters by visible signs.
std::string shown(const std::string& text, const TerminalStyle& style) {
  std::string result;
  for (const char c : text) {
    result += c == '\n' ? style.unicode ? "⏎" : "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  }
  return printable(result, 1000);
}

/// The tokens of an axis, spaces at their begin and line ends made visible.
std::vector<std::string> axis(const std::vector<std::string>& tokens, const TerminalStyle& style) {
  std::vector<std::string> texts;
  for (const std::string& token : tokens) {
    const bool space = style.unicode && token.starts_with(' ');
    texts.push_back(space ? "␣" + shown(token.substr(1), style) : shown(token, style));
  }
  return texts;
}

struct Axes {
  std::vector<std::string> queries, keys;
};

Axes axes_of(const ExampleRecord& example, AttentionKind kind, const TerminalStyle& style) {
  const auto& queries = kind == AttentionKind::encoder_self ? example.source : example.target;
  const auto& keys = kind == AttentionKind::decoder_self ? example.decoder_input : example.source;
  return {axis(queries, style), axis(keys, style)};
}

Index widest(const std::vector<std::string>& texts) {
  Index width = 1;
  for (const std::string& text : texts) width = std::max(width, display_width(text));
  return width;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Places blocks of lines side by side, `per_row` in a row, each `width` wide.
std::string side_by_side(const std::vector<std::vector<std::string>>& blocks, std::size_t per_row,
                         Index width) {
  std::string text;
  for (std::size_t first = 0; first < blocks.size(); first += per_row) {
    const std::size_t end = std::min(first + per_row, blocks.size());
    std::size_t height = 0;
    for (std::size_t b = first; b < end; ++b) height = std::max(height, blocks[b].size());
    for (std::size_t line = 0; line < height; ++line) {
      std::string row(indent, ' ');
      for (std::size_t b = first; b < end; ++b) {
        const std::string cell = line < blocks[b].size() ? blocks[b][line] : "";
        row += padded(cell, width + gap);
      }
      text += row.erase(row.find_last_not_of(' ') + 1) + "\n";
    }
  }
  return text;
}

/// A layer's selected heads of one kind, as many in a row as fit.
std::string layer_text(const ExampleRecord& example, const std::vector<HeadState>& heads,
                       const Axes& axes, const TerminalStyle& style) {
  Index roomy = widest(axes.queries) + 1;
  for (const std::string& key : axes.keys) roomy += std::max<Index>(1, display_width(key)) + 1;
  // The gaps between keys can be left out only if each key is one column wide.
  const Index tight = roomy - (widest(axes.keys) > 1 ? 0 : Index(axes.keys.size()));
  const Index room = style.columns - indent;
  const Index fit =
      std::clamp<Index>((room + gap) / (std::max<Index>(tight, 16) + gap), 1, Index(heads.size()));
  const Index width = std::max<Index>(16, std::min(roomy, (room + gap) / fit - gap));
  TerminalStyle narrow = style;
  narrow.columns = int(width);

  std::vector<std::vector<std::string>> blocks;
  for (const HeadState& head : heads) {
    const std::string name =
        fmt::format("head {}{}", head.id.head, head.removed ? " (removed)" : "");
    blocks.push_back({emphasised(name, head.removed ? Emphasis::faint : Emphasis::strong, style)});
    for (const MapRecord& map : example.maps) {
      if (map.id != head.id) continue;
      const std::string text = attention_map_text(axes.keys, axes.queries, map.rows, narrow);
      for (std::string& line : lines_in(text)) blocks.back().push_back(std::move(line));
    }
  }
  return side_by_side(blocks, std::size_t(fit), width);
}

/// The model's output for the input.
std::string answer_text(const AttentionRecord& record, const TerminalStyle& style) {
  const Answer& answer = record.answer;
  if (!answer.note.empty()) {
    return shown(answer.text, style) + (answer.text.empty() ? "" : "   ") + answer.note;
  }
  if (record.model.family == ModelKind::masked_language_model) {
    std::vector<std::string> guesses;
    for (const ClassProbability& one : answer.classes) {
      guesses.push_back(fmt::format("{} {:.3g}", shown(one.name, style), one.probability));
    }
    return fmt::format("{}   ({})", shown(answer.text, style), fmt::join(guesses, ", "));
  }
  const bool finished = answer.finished.value_or(true);
  const char* const origin = record.output ? "given; " : finished ? "" : "cut off; ";
  return fmt::format("{}   ({}probability {:.3g})", shown(answer.text, style), origin,
                     answer.probability);
}

}  // namespace
}  // namespace attend_terminal

void check_selection(const AttentionRecord& record, const HeadSelection& selection) {
  std::set<std::string> kinds;
  std::set<Index> layers, heads;
  const auto numbers = [](const std::set<Index>& found) {
    return fmt::format("{} to {}", *found.begin(), *found.rbegin());
  };
  for (const HeadState& head : record.heads) {
    kinds.insert(name_of(head.id.kind));
    if (selection.kind && head.id.kind != *selection.kind) continue;
    layers.insert(head.id.layer);
    heads.insert(head.id.head);
  }
  if (selection.kind && !kinds.contains(name_of(*selection.kind))) {
    throw UsageError(fmt::format("kind {}: this {} has only {}", name_of(*selection.kind),
                                 name_of(record.model.family), fmt::join(kinds, ", ")));
  }
  if (selection.layer && !layers.contains(*selection.layer)) {
    throw UsageError(
        fmt::format("layer {}: there are layers {}", *selection.layer, numbers(layers)));
  }
  if (selection.head && !heads.contains(*selection.head)) {
    throw UsageError(fmt::format("head {}: there are heads {}", *selection.head, numbers(heads)));
  }
}

std::string attend_text(const AttentionRecord& record, const HeadSelection& selection,
                        const TerminalStyle& style) {
  using namespace attend_terminal;
  check_selection(record, selection);
  std::string text = fmt::format("  input   {}\n  output  {}\n  weights {}\n",
                                 shown(record.input, style), answer_text(record, style),
                                 emphasised(shades_text(style), Emphasis::faint, style));
  for (const auto& [kind, title] : kinds) {
    std::map<Index, std::vector<HeadState>> layers;
    for (const HeadState& head : record.heads) {
      if (head.id.kind == kind && selected(head, selection)) layers[head.id.layer].push_back(head);
    }
    if (layers.empty()) continue;
    text += fmt::format("\n  {}\n", emphasised(title, Emphasis::strong, style));
    const Axes axes = axes_of(record.example, kind, style);
    for (const auto& [layer, heads] : layers) {
      text +=
          fmt::format("\n  layer {}\n{}", layer, layer_text(record.example, heads, axes, style));
    }
  }
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
