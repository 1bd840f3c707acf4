// Standard streams and the signals of writing.
#include "cli/frame/streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "headroom/base/utf8.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
void no_action(int) {}
}  // namespace

void prepare_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // open() takes the smallest free number, which is that of the stream.
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDWR) != stream) _exit(1);
  }
  struct sigaction action = {};
  action.sa_handler = no_action;  // unlike SIG_IGN, child programs do not inherit it
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaction(signal, &action, nullptr);
}

std::string unwritten_output(int error) {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  if (error == 0 && poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0) error = EPIPE;
  const char* const why = error == EPIPE   ? "the program that reads it has ended"
                          : error == EFBIG ? "the file would exceed the limit, see ulimit -f"
                          : error == EIO   ? "input or output error; was the terminal closed?"
                                           : "is the disk full?";
  return fmt::format("standard output could not be written ({})", why);
}

std::string shown(const std::string& text, std::FILE* stream) {
  if (isatty(fileno(stream)) == 0) return text;
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n\t", begin), text.size());
    result += printable(text.substr(begin, end - begin), text.size() * 4);
    if (end < text.size()) result += text[end];
    begin = end + 1;
  }
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
