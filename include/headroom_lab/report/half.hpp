// Which half of the heads can go? A record of one answer, its page, and the board of all answers
// that somebody gave. The experiment half_of_the_heads of the course makes them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom/base/terminal.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A head as the one who chooses sees it: measured on other examples than the answer is.
struct HalfHead {
  std::string name{};  // "e0": encoder; d: decoder; c: cross-attention
  double cost = 0, sensitivity = 0, shapley = 0;
  using T = HalfHead;
  using Fields = Listed<&T::name, &T::cost, &T::sensitivity, &T::shapley>;
};

/// A choice of heads, and the loss without them.
struct HalfChoice {
  std::string by{};                 // "you", "greedy", ...
  std::string removed{};            // "e0,c2,..."; "" for means over choices
  double after = 0, recovered = 0;  // loss right after the removal, and after recovery
  double exact = 0;                 // share of dates that are right after recovery
  std::optional<double> rank{};     // of `after` among the losses of all halves, from 1
  using T = HalfChoice;
  using Fields = Listed<&T::by, &T::removed, &T::after, &T::recovered, &T::exact, &T::rank>;
};

/// A model, its heads, the losses without each half of them, and what became of some choices.
struct HalfModel {
  Index seed = 0;
  double whole = 0;  // loss with all heads
  std::vector<HalfHead> heads{};
  std::vector<double> losses{};  // of all halves, ascending
  std::vector<HalfChoice> choices{};
  using T = HalfModel;
  using Fields = Listed<&T::seed, &T::whole, &T::heads, &T::losses, &T::choices>;
};

/// The record of the experiment half_of_the_heads, from which its page is made.
struct HalfRecord {
  std::string date{};
  Index recovery = 0;  // steps
  std::vector<HalfModel> models{};
  /// The choices, in order, each as the mean over the models.
  std::vector<HalfChoice> means() const;
  using T = HalfRecord;
  using Fields = Listed<&T::date, &T::recovery, &T::models>;
};

/// The page as text: what was removed, beside the other choices and all halves. Throws UsageError
/// for a record without models.
std::string half_page(const HalfRecord& record);

/// An answer on the board, without the losses of the halves.
struct HalfAnswer {
  std::string date{};
  Index recovery = 0;
  /// The measurements of one trained model without the heads of the answer.
  struct Model {
    Index seed = 0;
    std::string removed{};
    double after = 0, recovered = 0, rank = 0;
    using T = Model;
    using Fields = Listed<&T::seed, &T::removed, &T::after, &T::recovered, &T::rank>;
  };
  std::vector<Model> models{};
  double after = 0, recovered = 0, rank = 0;  // the means
  using T = HalfAnswer;
  using Fields = Listed<&T::date, &T::recovery, &T::models, &T::after, &T::recovered, &T::rank>;
};

/// All answers so far.
struct HalfBoard {
  static constexpr Index current_version = 1;
  Index version = current_version;
  std::vector<HalfAnswer> answers{};
  using T = HalfBoard;
  using Fields = Listed<&T::version, &T::answers>;
};

/// The answer of "you" in a record. Throws UsageError if there is none.
HalfAnswer answer_of(const HalfRecord& record);

/// The board in a file, empty without one. Throws DataError for one that is broken or of a later
/// version.
HalfBoard read_half_board(const std::filesystem::path& file);
/// Adds an answer; the file is replaced as a whole. Throws as read_half_board(), and then leaves
/// the file as it is.
void add_to_half_board(const std::filesystem::path& file, const HalfAnswer& answer);
/// A table of the answers, the best loss after recovery first.
std::string half_board_text(const HalfBoard& board, const TerminalStyle& style);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
