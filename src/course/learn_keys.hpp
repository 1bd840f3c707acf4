// Single keys of the terminal.
#pragma once

#include <termios.h>
#include <unistd.h>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Single keys without Enter and without echo, until the end of its life.
class KeyMode {
 public:
  KeyMode() {
    tcgetattr(STDIN_FILENO, &before_);
    termios keys = before_;
    keys.c_lflag &= ~tcflag_t(ICANON | ECHO);  // Ctrl-C still sends its signal
    tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  ~KeyMode() { tcsetattr(STDIN_FILENO, TCSANOW, &before_); }
  KeyMode(const KeyMode&) = delete;
  KeyMode& operator=(const KeyMode&) = delete;

 private:
  termios before_{};
};

/// The next key; `otherwise` at the end of the input or after a signal.
inline char read_key(char otherwise) {
  char key = otherwise;
  return read(STDIN_FILENO, &key, 1) <= 0 ? otherwise : key;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
