// The record of an experiment: what it may hold, both precisions in one, and what did not hold.
#pragma once

#include <string>
#include <vector>

#include "headroom/base/record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

// ```
// { "kind": "lab", "name": "head-slices", "title": "...",
//   "asked_in": "...",                              // "" where nobody is known to ask
//   "group": "asked on forums and in courses",      // or "the gradient laboratory"
//   "question": "...", "computed": "...", "formulas": ["..."],
//   "options": {"width": 768, "heads": 12, "seed": 1},
//   "precisions": ["double"],                       // or ["float"], or both
//   "seconds": {"double": 0.2},
//   "answer": {"double": "..."},                    // computed from the run
//   "claims": [{"text": "...", "relation": "<=",    // <= >= > == or in [low, high]
//               "double": {"measured": 3e-16, "bound": 1e-12, "holds": true}}],
//   "blocks": [                                     // in the order in which they are read
//     {"type": "table", "title": "...", "look": "...", "columns": [...], "rows": [[...]]},
//     {"type": "shapes", ... as a table: stage, shape, how it came about ...},
//     {"type": "chart", "title", "look", "x": "heads", "y": "difference", "log": true,
//      "series": [{"name": "...", "points": [[1, 0.5], ...]}]},
//     {"type": "maps", "title", "look", "queries": ["..."], "keys": ["..."],
//      "maps": [{"name": "head 0", "rows": [[...]]}]},          // numbers of [0, 1]
//     {"type": "matrices", "title", "look",
//      "steps": [{"name": "dP", "formula": "dO V^T",            // a line of a derivation
//                 "parts": [{"name": "single", "shape": "[10, 10]", "corner": [[...]]}]}]}] }
// ```
// Cells of tables are texts, numbers, truth values or null. Titles say what was found.

/// One record from the same experiment run in two precisions. What is equal is there once; tables
/// get two columns, charts two curves, maps and matrices two pictures where they differ. Throws
/// UsageError when the records are not of one experiment with equal options.
Record merged_records(const Record& first, const Record& second);

/// A line for every claim that does not hold: `heads moved by one input slice is 8 in float, must
/// be == 1`.
std::vector<std::string> failed_claims(const Record& record);

/// Two texts of one experiment as one: what the other precision says otherwise stands behind it,
/// "True in 55 (float: 57) of 100 draws", or as a whole when the texts are built differently.
std::string joined_texts(const std::string& text, const std::string& precision,
                         const std::string& other);

/// "0.25", "3.6e-7", "1,050,624", "[0.1, 0.4]": a number or a bound as people read it.
std::string figure_text(const Record& value);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
