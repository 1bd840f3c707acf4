// The progress line.
#include "headroom_runs/runs/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <vector>

#include "headroom/base/terminal.hpp"
#include "headroom/base/text.hpp"
#include "headroom/train/measures.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

ProgressLine::ProgressLine(ProgressOptions options) : ProgressLine(std::move(options), std::cerr) {}

ProgressLine::ProgressLine(ProgressOptions options, std::ostream& out)
    : options_(std::move(options)),
      out_(out),
      live_(options_.live.value_or(TerminalStyle::of(stderr).live)),
      colour_(live_ && TerminalStyle::colour_allowed()) {
  if (!options_.clock) options_.clock = steady_seconds;
}

ProgressLine::~ProgressLine() { finish(); }

void ProgressLine::operator()(const StepReport& report) {
  const double now = options_.clock();
  const bool first = first_step_ < 0, last = report.step >= options_.steps;
  if (first) {
    first_step_ = report.step - 1;
    started_ = now - report.seconds;
  }
  tokens_ += report.tokens;
  step_seconds_ += report.seconds;
  for (const auto& [key, value] : report.metrics.items()) {
    if (value.is_number()) latest_[key] = value;
  }
  const double interval = live_ ? options_.redraw_seconds : options_.line_seconds;
  if (!first && !last && now - last_drawn_ < interval) return;
  last_drawn_ = now;
  if (live_) {
    erase();
    const int width = options_.width > 0 ? options_.width : TerminalStyle::of(stderr).columns;
    out_ << text(report, width - 1, now) << std::flush;  // a full line would wrap
    drawn_ = true;
    if (last) finish();
  } else {
    out_ << text(report, options_.width > 0 ? options_.width : 120, now) << std::endl;
  }
}

std::string ProgressLine::text(const StepReport& report, int width, double now) const {
  struct Piece {
    std::string text;
    int rank;  // what goes first when the line is too long: the highest
  };
  std::vector<Piece> pieces;
  const std::string all = fmt::format("{}", options_.steps);
  if (!options_.title.empty()) pieces.push_back({options_.title, 3});
  pieces.push_back({fmt::format("step {:>{}}/{}", report.step, all.size(), all), 0});
  pieces.push_back({fmt::format("loss {:.3f}", report.loss), 1});
  for (const Measure& measure : quality_measures) {
    if (!latest_.contains(measure.key)) continue;
    const double share = latest_[measure.key].get<double>();
    pieces.push_back({fmt::format("{} {:.1f} %", measure.short_name, 100 * share), 2});
  }
  if (latest_.contains("validation_loss")) {
    pieces.push_back(
        {fmt::format("validation {:.3f}", latest_["validation_loss"].get<double>()), 2});
  }
  if (tokens_ > 0 && step_seconds_ > 0) {
    const double rate = double(tokens_) / step_seconds_;
    pieces.push_back({short_number(rate) + " tok/s", 6});
  }
  if (report.heads_alive > 0) {
    const char* const noun = report.heads_alive == 1 ? "head" : "heads";
    pieces.push_back({fmt::format("{} {}", report.heads_alive, noun), 5});
  }
  const double fraction =
      std::min(1.0, double(report.step) / double(std::max<Index>(1, options_.steps)));
  if (live_) pieces.push_back({bar_text(fraction), 7});
  const double elapsed = now - started_, done = double(report.step - first_step_);
  const Index left = options_.steps - report.step;
  pieces.push_back(
      {left > 0 ? clock_text(elapsed / done * double(left)) + " left" : clock_text(elapsed), 4});

  const auto length = [&] {
    std::size_t sum = 2 * (pieces.size() - 1);
    for (const Piece& piece : pieces) sum += piece.text.size();
    return int(sum);
  };
  while (pieces.size() > 1 && length() > width) {
    pieces.erase(std::max_element(pieces.begin(), pieces.end(),
                                  [](const auto& a, const auto& b) { return a.rank < b.rank; }));
  }
  std::string line;
  for (const Piece& piece : pieces) {
    if (!line.empty()) line += "  ";
    const bool faint = colour_ && piece.rank >= 4;
    line += faint ? fmt::format("\x1b[2m{}\x1b[0m", piece.text) : piece.text;
  }
  return line;
}

void ProgressLine::note(const std::string& text) {
  erase();
  out_ << text << std::endl;
}

void ProgressLine::erase() {
  if (drawn_) out_ << "\r\x1b[K";
  drawn_ = false;
}

void ProgressLine::finish() {
  if (drawn_) out_ << std::endl;
  drawn_ = false;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
