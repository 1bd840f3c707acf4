// SIGINT, SIGTERM, SIGUSR1 and SIGHUP.
#include "headroom/train/stop_signals.hpp"

#include <unistd.h>

#include <array>
#include <csignal>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

volatile std::sig_atomic_t caught = 0;  // the first signal that counts, else SIGUSR1
bool watching = false;
constexpr std::array stops{SIGINT, SIGTERM, SIGUSR1, SIGHUP};
std::array<struct sigaction, stops.size()> before;

void on_stop(int signal) {
  const bool counts = signal != SIGUSR1;
  if (counts && caught != 0 && caught != SIGUSR1) _exit(128 + signal);
  if (counts || caught == 0) caught = signal;
}

}  // namespace

StopSignals::StopSignals() {
  if (watching) throw UsageError("only one StopSignals may exist at a time");
  watching = true;
  caught = 0;
  struct sigaction action = {};
  action.sa_handler = on_stop;
  action.sa_flags = SA_RESTART;  // no write is cut short by the polite request
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < stops.size(); ++i) sigaction(stops[i], &action, &before[i]);
  if (before.back().sa_handler == SIG_IGN) sigaction(SIGHUP, &before.back(), nullptr);
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < stops.size(); ++i) sigaction(stops[i], &before[i], nullptr);
  watching = false;
}

bool StopSignals::requested() const { return caught != 0; }

int StopSignals::exit_code() const { return caught == 0 ? 0 : 128 + caught; }

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
