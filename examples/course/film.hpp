// A film in the terminal: pictures that are drawn over each other, or, without a terminal, only the
// first one and the last one below each other.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "headroom/base/terminal.hpp"

class Film {
 public:
  /// Of pictures with this many lines. In a lower terminal they cannot be drawn over each other.
  explicit Film(int lines) : style_(headroom::TerminalStyle::of(stdout)) {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && lines >= size.ws_row) {
      style_.live = false;
    }
  }

  const headroom::TerminalStyle& style() const { return style_; }
  /// Whether this picture of `steps` is shown: all on a terminal, else the first and the last.
  bool shows(int step, int steps, int every) const {
    return step == 0 || step == steps || (style_.live && step % every == 0);
  }
  /// Shows a picture, whose lines end with "\n", in the place of the one before.
  void show(const std::string& picture) {
    if (style_.live && lines_ > 0) std::printf("\x1b[%dA", lines_);
    // A shorter line must not leave the end of the longer one that it replaces.
    std::string cleared;
    for (const char letter : picture) {
      if (letter == '\n' && style_.live) cleared += "\x1b[K";
      cleared += letter;
    }
    std::printf("%s", cleared.c_str());
    std::fflush(stdout);
    lines_ = int(std::count(picture.begin(), picture.end(), '\n'));
    if (style_.live) std::this_thread::sleep_for(std::chrono::milliseconds(40));
  }

 private:
  headroom::TerminalStyle style_;
  int lines_ = 0;
};
