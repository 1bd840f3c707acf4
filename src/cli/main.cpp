// The program `headroom`, and `headroom-f64` in double.
#include <unistd.h>

#include <exception>
#include <new>
#include <string_view>

#include "cli/program.hpp"

namespace {

std::terminate_handler other_end = nullptr;

/// Ends the program like run_program() when memory fails where no exception can be caught: before
/// main(), in functions that throw nothing, while an error is printed.
void end_without_memory() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    constexpr std::string_view line = "error: not enough memory\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
    _exit(1);
  } catch (...) {
  }
  other_end();
}

/// Before the initialisers of all statics.
[[gnu::constructor(101)]] void handle_missing_memory() {
  other_end = std::set_terminate(end_without_memory);
}

}  // namespace

int main(int argc, char** argv) { return headroom::run_program(argc, argv); }
