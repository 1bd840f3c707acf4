// Standard streams and the signals of writing.
#include "cli/streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

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
  const char* const why = error == EPIPE   ? "the program that reads it has ended"
                          : error == EFBIG ? "the file would exceed the limit, see ulimit -f"
                          : error == EIO   ? "input or output error; was the terminal closed?"
                                           : "is the disk full?";
  return fmt::format("standard output could not be written ({})", why);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
