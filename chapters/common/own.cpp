// Linked with the learner's functions into libmine.so: notes which of them are called, and sends
// what they print to the error stream.
//
// In the learner's object files, the runner (src/course/learn_mine.cpp) replaces the names of
// output functions by those that begin with headroom_answer_. For each function of the learner it
// adds one that sets a byte of headroom_calls before it continues in the learner's.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t most_functions = 4096;
std::array<unsigned char, most_functions> not_shared{};

}  // namespace

extern "C" {
/// The names of the learner's functions, and nullptr; the runner generates them.
extern const char* const headroom_own_names[];
/// A byte for each of them. The processes that a command starts share it.
constinit unsigned char* headroom_calls = not_shared.data();
}

namespace {

pid_t first_process = 0;  // of the command; 0 in the processes that it starts

/// Maps the file that HEADROOM_CALLS names. The first process of a command creates it.
[[gnu::constructor(101)]] void share_calls() {
  const char* path = std::getenv("HEADROOM_CALLS");
  if (path == nullptr) return;
  int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) {
    first_process = getpid();
  } else {
    file = open(path, O_RDWR | O_CLOEXEC);
  }
  if (file < 0 || ftruncate(file, most_functions) != 0) return;
  void* shared = mmap(nullptr, most_functions, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (shared != MAP_FAILED) headroom_calls = static_cast<unsigned char*>(shared);
}

/// Prints a list in lines of at most 80 columns.
void print_list(std::string line, const std::string& list) {
  std::size_t begin = 0;
  while (begin < list.size()) {
    const std::size_t end = std::min(list.find(", ", begin), list.size() - 1) + 1;
    if (line.size() + 1 + (end - begin) > 79) {
      std::printf("%s\n", line.c_str());
      line.assign(1, ' ');
    }
    line += ' ';
    line.append(list, begin, end - begin);
    begin = end + 1;
  }
  std::printf("%s.\n", line.c_str());
}

/// The names of the functions that were called so far, or of the others, separated by commas.
std::string names_of(bool called) {
  std::string list;
  for (std::size_t i = 0; headroom_own_names[i] != nullptr; ++i) {
    if ((headroom_calls[i] != 0) != called) continue;
    if (!list.empty()) list += ", ";
    list += headroom_own_names[i];
  }
  return list;
}

/// At the end of the command: which functions it has called.
[[gnu::destructor]] void print_calls() {
  if (first_process != getpid()) return;
  unlink(std::getenv("HEADROOM_CALLS"));
  const std::string called = names_of(true), others = names_of(false);
  std::printf("\n");
  if (!called.empty()) print_list("This command called your functions", called);
  if (!others.empty()) print_list("Not used by this command:", others);
  std::fflush(stdout);
}

/// Writes the first lines of a process to its error stream.
void print(std::string_view text) {
  constexpr int most_lines = 100;
  static constinit std::mutex mutex;
  static int lines = 0;
  const std::lock_guard lock(mutex);
  while (!text.empty() && lines <= most_lines) {
    if (lines == most_lines) {
      text = "... Your functions print more. Only their first 100 lines are shown.\n";
    }
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    if (text[end - 1] == '\n') ++lines;
    if (write(STDERR_FILENO, text.data(), end) < 0) return;
    text.remove_prefix(end);
  }
}

class Output : public std::streambuf {
 protected:
  int_type overflow(int_type c) override {
    const char letter = char(c);
    print({&letter, 1});
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    print({text, std::size_t(size)});
    return size;
  }
};

ssize_t print_part(void*, const char* text, std::size_t size) {
  print({text, size});
  return ssize_t(size);
}

/// Before the constructors of the learner's objects, which may print.
[[gnu::init_priority(101)]] Output output;

}  // namespace

/// The learner's functions that this command has called so far, "softmax, matmul", for a program
/// that asks the dynamic loader for this name (src/cli/commands/demo_page.cpp).
extern "C" const char* headroom_called_functions() {
  static std::string list;
  list = names_of(true);
  return list.c_str();
}

// In place of the names without headroom_answer_.
extern "C" {

[[gnu::init_priority(102)]] std::ostream headroom_answer__ZSt4cout(&output);
[[gnu::init_priority(102)]] std::ostream headroom_answer__ZSt4cerr(&output);
[[gnu::init_priority(102)]] std::ostream headroom_answer__ZSt4clog(&output);
std::FILE *headroom_answer_stdout = nullptr, *headroom_answer_stderr = nullptr;

[[gnu::constructor(102)]] void headroom_open_output() {
  std::FILE* file = fopencookie(nullptr, "w", {nullptr, print_part, nullptr, nullptr});
  if (file != nullptr) std::setvbuf(file, nullptr, _IOLBF, BUFSIZ);
  headroom_answer_stdout = headroom_answer_stderr = file;
}

int headroom_answer_vprintf(const char* format, va_list values) {
  return std::vfprintf(headroom_answer_stdout, format, values);
}
int headroom_answer___vprintf_chk(int, const char* format, va_list values) {
  return headroom_answer_vprintf(format, values);
}
int headroom_answer_printf(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int count = headroom_answer_vprintf(format, values);
  va_end(values);
  return count;
}
int headroom_answer___printf_chk(int, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int count = headroom_answer_vprintf(format, values);
  va_end(values);
  return count;
}
int headroom_answer_puts(const char* text) { return headroom_answer_printf("%s\n", text); }
int headroom_answer_putchar(int letter) { return std::fputc(letter, headroom_answer_stdout); }
/// fmt::print calls it.
void headroom_answer_vprint(fmt::string_view format, fmt::format_args values) {
  const std::string text = fmt::vformat(format, values);
  std::fwrite(text.data(), 1, text.size(), headroom_answer_stdout);
}
}
