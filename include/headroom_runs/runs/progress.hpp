// ProgressLine: the progress of a training run, on one line that is rewritten, or line by line in a
// log.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "headroom/base/record_json.hpp"
#include "headroom/train/trainer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Length, title and form of the progress line of a run.
struct ProgressOptions {
  Index steps = 0;         // of the whole run
  std::string title = {};  // comes first: "Learning"
  /// Rewrite one line? Unset: when standard error is a terminal.
  std::optional<bool> live = {};
  /// Columns; 0: asked from the terminal at each drawing, 80 without one.
  int width = 0;
  double redraw_seconds = 0.1;         // shortest time between two drawings of the live line
  double line_seconds = 10;            // between two plain lines
  std::function<double()> clock = {};  // seconds; for tests
};

/// An observer. On a terminal:
/// `Learning  step  480/2000  loss 0.004  exact 99.6 %  61k tok/s  24 heads  [###----] 0:31 left`
/// A line is never wider than the terminal: the bar and then the rates are left out first.
/// Elsewhere it prints plain lines, those of the first and the last step among them. The latest
/// exact_match, accuracy, per, wer and validation_loss that other observers measured are shown
/// until they are measured again. NO_COLOR turns colours off.
class ProgressLine {
 public:
  /// Writes to standard error, or to `out`.
  explicit ProgressLine(ProgressOptions options);
  ProgressLine(ProgressOptions options, std::ostream& out);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Shows a step, unless the last one was shown only just before (ProgressOptions).
  void operator()(const StepReport& report);
  /// Prints a permanent line above the live one.
  void note(const std::string& text);
  /// Ends the live line, so that later output starts on a new one.
  void finish();

 private:
  std::string text(const StepReport& report, int width, double now) const;
  void erase();

  ProgressOptions options_;
  std::ostream& out_;
  bool live_, colour_, drawn_ = false;
  double started_ = 0, last_drawn_ = 0;
  Index first_step_ = -1, tokens_ = 0;
  double step_seconds_ = 0;
  Record latest_ = Record::object();
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
