// main() of the checks of an exercise: Catch2 in a child process with limits, and with a reporter
// for the runner.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>

#include "common/todo.hpp"
#include "headroom/base/error.hpp"

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_translate_exception.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>
#define HEADROOM_CATCH 3
#else
#define CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_NO_POSIX_SIGNALS  // name_overflow() sees them
#include <catch2/catch.hpp>
#define HEADROOM_CATCH 2
#endif

namespace {

/// The calls that were open in the answer's library when something was thrown or the program
/// crashed: "at 1a2b 3c4d\n", offsets in the library from the innermost one; "" if there are none.
/// The runner finds their lines. Written without the heap, which a crash may have spoiled.
class OpenCalls {
 public:
  /// `context` is that of a signal, whose first address is the instruction itself. If the stack is
  /// full, that instruction may begin the function that was called once too often: it comes last.
  void note(const void* context = nullptr, bool stack_is_full = false) {
    used_ = 0;
    std::uintptr_t instruction = 0;
#if defined(__x86_64__)
    if (context != nullptr) {
      const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
      instruction = std::uintptr_t(machine.gregs[REG_RIP]);
    }
#else
    static_cast<void>(context);
#endif
    if (!stack_is_full) add(instruction);
    std::array<void*, 64> frames;
    const int count = backtrace(frames.data(), int(frames.size()));
    for (int i = 0; i < count; ++i) {  // a call returns to the instruction after it
      const auto address = reinterpret_cast<std::uintptr_t>(frames[std::size_t(i)]);
      if (address != instruction) add(address - 1);
    }
    if (stack_is_full) add(instruction);
    if (used_ > 0) text_[used_++] = '\n';
  }
  void forget() { used_ = 0; }
  std::string_view text() const { return {text_.data(), used_}; }

  const char* library = "";  // "lib05_4.so"

 private:
  void add(std::uintptr_t address) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(address), &info) == 0 || info.dli_fname == nullptr) return;
    const char* slash = std::strrchr(info.dli_fname, '/');
    if (std::strcmp(slash == nullptr ? info.dli_fname : slash + 1, library) != 0) return;
    std::uintptr_t offset = address - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    std::array<char, 2 * sizeof(offset)> digits;
    std::size_t count = 0;
    for (; offset > 0; offset /= 16) digits[count++] = "0123456789abcdef"[offset % 16];
    if (used_ + count + 5 > text_.size()) return;
    for (const char c : std::string_view(used_ == 0 ? "at " : " ")) text_[used_++] = c;
    while (count > 0) text_[used_++] = digits[--count];
  }

  std::array<char, 512> text_{};
  std::size_t used_ = 0;
};

OpenCalls open_calls;
const char* report_file = nullptr;  // of the reporter

class LearnReporter;
#if HEADROOM_CATCH == 3
using StreamingBase = Catch::StreamingReporterBase;
using AfterAssertion = void;
#else
using StreamingBase = Catch::StreamingReporterBase<LearnReporter>;
using AfterAssertion = bool;
#endif

/// Writes "stage NAME", then "passed", or the open calls, "failed" and the message in the lines
/// after it. Each line is flushed, so that the runner knows the stage in which a program crashed.
class LearnReporter : public StreamingBase {
 public:
  using StreamingBase::StreamingBase;
  static std::string getDescription() { return "for the runner of the course"; }

  void assertionStarting(const Catch::AssertionInfo&) override {}
  AfterAssertion assertionEnded(const Catch::AssertionStats& stats) override {
    const Catch::AssertionResult& result = stats.assertionResult;
    if (!result.isOk()) {
      failure_ = std::string(result.getMessage());
      if (failure_ == "Unknown exception") {
        failure_ = "your code threw something that is not a std::exception";
      }
      if (failure_.empty()) failure_ = result.getExpandedExpression() + " does not hold";
    }
    return AfterAssertion(true);
  }
  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    StreamingBase::testCaseStarting(test);
    out() << "stage " << test.name << std::endl;
    failure_.clear();
    open_calls.forget();
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    StreamingBase::testCaseEnded(stats);
    if (stats.totals.assertions.allPassed()) {
      out() << "passed" << std::endl;
    } else {
      out() << open_calls.text() << "failed\n" << failure_ << std::endl;
    }
  }

 private:
  std::ostream& out() {
#if HEADROOM_CATCH == 3
    return m_stream;
#else
    return stream;
#endif
  }
  std::string failure_;
};

CATCH_REGISTER_REPORTER("learn", LearnReporter)

}  // namespace

/// Takes the place of the C++ runtime's function, which it calls: notes where something is thrown.
extern "C" [[noreturn]] void __cxa_throw(void* thrown, void* type,  // NOLINT: its name
                                         void (*destructor)(void*)) {
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto next = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  open_calls.note();
  next(thrown, type, destructor);
  __builtin_unreachable();
}

// Catch2 asks the last one first, so the base class comes before the derived one.
CATCH_TRANSLATE_EXCEPTION(const std::exception& error) {
  return std::string("your code was stopped by an exception: ") + error.what();
}
CATCH_TRANSLATE_EXCEPTION(const chapter::NotImplemented& missing) {
  return std::string("not implemented: ") + missing.what;
}
CATCH_TRANSLATE_EXCEPTION(const headroom::Error& error) {
  return std::string("the library stopped your code: ") + error.what();
}

namespace {

std::uintptr_t first_frame = 0;  // the end of the stack that is not used by the checks

/// Adds the open calls to the report, which then ends with them.
void report_calls(const void* context, bool stack_is_full = false) {
  open_calls.note(context, stack_is_full);
  const int file = report_file == nullptr ? -1 : open(report_file, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  const std::string_view text = open_calls.text();
  if (write(file, text.data(), text.size()) < 0) std::perror(report_file);
  close(file);
}

/// For SIGSEGV: ends the process with SIGSTKFLT if the stack is full, else with SIGSEGV. The stack
/// is full if the address that is not there lies in it.
void name_overflow(int, siginfo_t* info, void* context) {
  // Catch2 3 has its own handler, which raises the signal again: the access follows once more.
  if (info->si_code <= 0) return;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto stack = std::uintptr_t(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  const auto stack = std::uintptr_t(machine.sp);
#else
  const std::uintptr_t stack = first_frame;  // not known: no overflow is named
  static_cast<void>(machine);
#endif
  constexpr std::uintptr_t below = 1 << 20;  // a call writes below the stack pointer
  const bool is_full = address + below >= stack && address < first_frame;
  report_calls(context, is_full);
  std::signal(SIGSEGV, SIG_DFL);
  if (is_full) kill(getpid(), SIGSTKFLT);
}

/// For signals that end the process: says in which call of the answer it is, and ends it.
void name_line(int signal, siginfo_t*, void* context) {
  report_calls(context);
  std::signal(signal, SIG_DFL);
  raise(signal);  // it is delivered after the return
}

void watch_signals() {
  static std::array<char, 1 << 16> memory;  // the handler cannot use a stack that is full
  stack_t other{};
  other.ss_sp = memory.data();
  other.ss_size = memory.size();
  struct sigaction before {
  }, action{};
  sigaction(SIGSEGV, nullptr, &before);
  if (before.sa_handler != SIG_DFL) return;  // a sanitizer's
  open_calls.note();  // the first call of backtrace() loads a library, which no handler should
  sigaltstack(&other, nullptr);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = name_overflow;
  sigaction(SIGSEGV, &action, nullptr);
  action.sa_sigaction = name_line;
  for (const int signal : {SIGABRT, SIGFPE, SIGXCPU, SIGALRM}) {
    sigaction(signal, &action, nullptr);
  }
}

void set_limits() {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const rlimit seconds{10, 11};  // of processor time; SIGXCPU ends an endless loop
  setrlimit(RLIMIT_CPU, &seconds);
  const rlimit bytes{64'000'000, 64'000'000};  // of a file; SIGXFSZ ends an answer that prints more
  setrlimit(RLIMIT_FSIZE, &bytes);
  alarm(60);  // a wait that does not end
}

/// Ends the processes that the checks have left. They became children of this process.
void end_children() {
  const std::string path = "/proc/self/task/" + std::to_string(getpid()) + "/children";
  for (bool any = true; any;) {
    any = false;
    std::ifstream children(path);
    for (pid_t child = 0; children >> child;) {
      kill(child, SIGKILL);
      any = waitpid(child, nullptr, 0) == child || any;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const pid_t parent = getpid();
  first_frame = reinterpret_cast<std::uintptr_t>(&parent);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) return 1;  // the parent ended before prctl()
    set_limits();
    for (int i = 1; i + 1 < argc; ++i) {
      if (std::string_view(argv[i]) == "--out") report_file = argv[i + 1];
    }
    // "05_4_checks" has the answer's library lib05_4.so.
    const std::string_view path = argv[0], name = path.substr(path.rfind('/') + 1);
    static const std::string library =
        "lib" + std::string(name.substr(0, name.rfind("_checks"))) + ".so";
    open_calls.library = library.c_str();
    watch_signals();
    Catch::Session session;
    session.configData().abortAfter = 1;
    return session.run(argc, argv);
  }
  if (child < 0) {
    std::perror("the checks cannot start a process");
    return 1;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end_children();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
