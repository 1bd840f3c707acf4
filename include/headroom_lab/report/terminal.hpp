// Pictures in text: attention maps and grids of heads for a terminal.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headroom/base/terminal.hpp"
#include "headroom/base/text.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// An attention map: keys on top, one line per query, a shade per weight (see shades_text).
/// `weights` has a row per query. Every line starts with `indent` spaces and ends with a newline. A
/// map that is too wide for a line continues below, after an empty line. Throws ShapeError when
/// rows and tokens do not fit.
std::string attention_map_text(std::span<const std::string> keys,
                               std::span<const std::string> queries,
                               const std::vector<std::vector<double>>& weights,
                               const TerminalStyle& style, int indent = 0);

/// The legend of a map's shades: "█ from 0.6, ▒ from 0.3, ░ from 0.1, . less" (ASCII: # + -).
std::string shades_text(const TerminalStyle& style);

/// The live (o) and removed (x) heads of one kind, by layer: "o x x o | x o x x".
std::string head_grid_text(const std::vector<std::vector<bool>>& alive, const TerminalStyle& style);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
