// The interactive runner of the course.
#include "course/learn_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <set>
#include <sstream>
#include <utility>

#include "cli/frame/streams.hpp"
#include "course/learn_attempts.hpp"
#include "course/learn_behind.hpp"
#include "course/learn_judge.hpp"
#include "course/learn_keys.hpp"
#include "course/learn_mine.hpp"
#include "course/learn_mistakes.hpp"
#include "course/learn_place.hpp"
#include "course/learn_questions.hpp"
#include "course/learn_screen.hpp"
#include "course/learn_send.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/train/stop_signals.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// Notices that a file is saved or is gone. Editors write a new file and rename it, so the folder
/// is watched; where inotify is not available, the file's time is looked at.
class SavedFile {
 public:
  explicit SavedFile(fs::path file) : file_(std::move(file)), queue_(inotify_init1(IN_NONBLOCK)) {
    const fs::path folder = file_.parent_path();
    if (queue_ >= 0 &&
        inotify_add_watch(queue_, folder.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
      close(queue_);
      queue_ = -1;
    }
    remember();
  }
  ~SavedFile() {
    if (queue_ >= 0) close(queue_);
  }
  SavedFile(const SavedFile&) = delete;
  SavedFile& operator=(const SavedFile&) = delete;

  /// For poll(); negative: none, so that poll() ignores it.
  int descriptor() const { return queue_; }
  /// Whether the file was saved since the last call. Empties the queue.
  bool saved() {
    std::array<char, 4096> events;
    while (queue_ >= 0 && read(queue_, events.data(), events.size()) > 0) {
    }
    const fs::file_time_type before = time_;
    remember();
    return time_ != before;
  }
  bool exists() const { return fs::exists(file_); }

 private:
  void remember() {
    std::error_code gone;  // for a moment, while an editor replaces it
    const auto time = fs::last_write_time(file_, gone);
    if (!gone) time_ = time;
  }

  fs::path file_;
  int queue_;
  fs::file_time_type time_;
};

/// The folder for the library of the learner's file.
fs::path build_folder(const Workspace& workspace) {
  return workspace.build() / ("answer" + course_double.suffix);
}

constexpr const char* keys_text =
    "[n] next  [h] hint  [s] solution  [l] list  [e] edit  [c] check  [x] reset  [q] quit";

/// The rows of the terminal on standard output.
Index terminal_rows() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

/// The screen of one exercise at a time.
class Watch {
 public:
  Watch(const Course& course, Workspace& workspace, const Exercise& first, EditorOptions editor)
      : course_(course), workspace_(workspace), exercise_(&first), editor_(std::move(editor)) {}

  int run() {
    const KeyMode keys;
    while (!done_ && !signals_.requested()) {
      begin();
      open_file(!pane_opened_);
      SavedFile file(workspace_.answer(*exercise_));  // before the check, which takes a while
      check();
      const Exercise* const shown = exercise_;
      while (!done_ && exercise_ == shown && !signals_.requested()) wait(file);
    }
    fmt::print("\n");
    return signals_.exit_code();
  }

 private:
  void begin() {
    workspace_.begin(*exercise_);
    workspace_.reload();
    workspace_.state.current = exercise_->id;
    workspace_.save();
    attempt([&] { note_begin(workspace_, *exercise_); });
  }

  /// Opens the learner's file at its first gap in an editor, if there is one, or else says where
  /// that is. A pane of the terminal is opened for the first exercise only, and when asked for.
  void open_file(bool pane) {
    const fs::path answer = workspace_.answer(*exercise_);
    if (!fs::exists(answer)) return;
    const Index line = first_gap(read_file(answer));
    const EditorCommand command = editor_command(editor_, answer, line);
    const bool opens = !command.words.empty() && (pane || !command.new_pane);
    if (opens) start_editor(command);
    pane_opened_ = pane_opened_ || command.new_pane;
    where_ = opens ? fmt::format("{} opens {}.", capital(command.name), place_text(answer, line))
                   : fmt::format("Begin at {}.", place_text(answer, line));
  }

  void check() {
    behind_.stop();
    style_ = TerminalStyle::of(stdout);  // a new pane makes this one narrower
    fmt::print("\x1b[H\x1b[2J\x1b[3J{}  {}\n\n", card_text(course_, workspace_, *exercise_, style_),
               where_);
    std::fflush(stdout);
    passed_ = to_compare_ = to_compile_ = false;
    attempt([&] {
      const std::string code = read_file(workspace_.answer(*exercise_));
      const Verdict verdict = check_once(course_, workspace_, *exercise_);
      passed_ = verdict.kind == Verdict::Kind::passed;
      to_compare_ = is_to_compare(course_, *exercise_, course_double, verdict);
      if (passed_) keep_answer(workspace_, *exercise_, code);
      if (to_compare_) {
        fmt::print("\nIt will be compared with known mistakes in a moment.\n");
      } else {
        note_attempt(workspace_, *exercise_, verdict);
        fmt::print("{}", offer_text(*exercise_, verdict, style_));
      }
    });
    if (passed_ && !exercise_->master.after.empty()) {
      fmt::print("\n{}\n", prose_text(exercise_->master.after, style_.columns));
    }
    if (passed_) attempt([&] { ask(); });
    if (passed_) attempt([&] { say_compiling(); });
    print_keys();
    said_gone_ = false;
    attempt([&] { behind_.start(*exercise_); });
  }

  void say_compiling() {
    to_compile_ = waiting_answers(course_, workspace_) > 0;
    if (!to_compile_) return;
    fmt::print("{}\n", emphasised("It is being compiled for programs that run on it, in float and "
                                  "in double; go on meanwhile.",
                                  Emphasis::faint, style_));
  }

  /// Asks the questions of a chapter whose exercises are all done, once.
  void ask() {
    if (!asked_.insert(exercise_->chapter).second) return;
    if (!questions_are_due(course_, workspace_, *exercise_)) return;
    ask_questions(course_, workspace_, *exercise_, false, style_);
  }

  /// Checks an answer again that could not be compared with all mistakes, once these are known.
  void compare() {
    if (!to_compare_) return;
    if (unknown_mistakes(course_, *exercise_, course_double).empty()) return check();
    if (behind_.goes_on()) return;
    to_compare_ = false;  // the work has ended with an error, which this repeats
    attempt([&] {
      learn_mistakes(course_, *exercise_, course_double);
      // Otherwise the work was ended from outside.
      if (unknown_mistakes(course_, *exercise_, course_double).empty()) check();
    });
  }

  /// Compiles what the work behind the prompt could not, or had no time for: it was at work on
  /// something else when the answer was kept.
  void finish_compiling() {
    if (!to_compile_ || behind_.goes_on()) return;
    to_compile_ = false;
    attempt([&] {
      if (waiting_answers(course_, workspace_) == 0) return;
      const std::string failed = update_mine(course_, workspace_);
      if (failed.empty()) return;
      fmt::print("\n{}", shown(failed));
      print_keys();
    });
  }

  void print_keys() {
    fmt::print("\n{}\n", emphasised(wrapped(keys_text, style_.columns), Emphasis::faint, style_));
    std::fflush(stdout);
  }

  /// Prints a text that may be longer than the screen, a screen at a time.
  void page(const std::string& text) {
    const Index most = std::max<Index>(1, terminal_rows() - 2);
    std::istringstream lines(text);
    Index row = 0;
    for (std::string line; std::getline(lines, line); ++row) {
      if (row == most) {
        fmt::print("{}", emphasised("[q] back, any other key: more", Emphasis::faint, style_));
        std::fflush(stdout);
        const char key = read_key('q');
        fmt::print("\r\x1b[K");
        if (key == 'q') break;
        row = 0;
      }
      fmt::print("{}\n", line);
    }
    print_keys();
  }

  /// Calls the function. An error, such as checks that cannot be built, does not end the session.
  template <class Function>
  void attempt(const Function& function) {
    try {
      function();
    } catch (const Error& error) {
      fmt::print("{} {}\n", emphasised("error:", Emphasis::bad, style_), shown(error.what()));
    }
  }

  /// Waits for a key or a saved file.
  void wait(SavedFile& file) {
    std::array<pollfd, 2> sources{pollfd{STDIN_FILENO, POLLIN, 0},
                                  pollfd{file.descriptor(), POLLIN, 0}};
    const int milliseconds = file.descriptor() >= 0 && !to_compare_ ? 1000 : 200;
    const int ready = poll(sources.data(), sources.size(), milliseconds);
    if (ready < 0 && errno != EINTR) done_ = true;
    if (file.saved()) {
      check();
    } else if (ready == 0) {
      compare();
      finish_compiling();
      if (!file.exists()) say_gone();
    }
    if ((sources[0].revents & (POLLIN | POLLHUP)) == 0) return;
    obey(read_key('q'));
    std::fflush(stdout);
  }

  /// The file is not there, and no editor is just replacing it. Says so once.
  void say_gone() {
    if (std::exchange(said_gone_, true)) return;
    passed_ = false;
    fmt::print("\n{}\n", wrapped(fmt::format("Your file {} is gone. Save it again, or press [x] to "
                                             "begin again with the file of the exercise.",
                                             shown(workspace_.answer(*exercise_).string())),
                                 style_.columns));
    print_keys();
  }

  void obey(char key) {
    switch (key) {
      case 'n': next(); break;
      case 'h': page("\n" + hint_text(workspace_, *exercise_, style_)); break;
      case 's': solution(); break;
      case 'l': page("\n" + list_text(course_, workspace_, style_)); break;
      case 'e': edit(); break;
      case 'c': check_again(); break;
      case 'x': start_over(); break;
      case 'q': done_ = true; break;
      default: break;
    }
  }

  void edit() {
    open_file(true);
    fmt::print("\n{}\n", where_);
    print_keys();
  }

  void check_again() {
    if (fs::exists(workspace_.answer(*exercise_))) return check();
    said_gone_ = false;  // the key asks once more
    say_gone();
  }

  void next() {
    const Exercise* next = workspace_.next(course_, *exercise_);
    if (next == nullptr) {
      fmt::print("\nThere is no exercise after this one that is not done. [l] lists all.\n");
    } else {
      exercise_ = next;
    }
  }

  void solution() {
    if (passed_ || confirmed("Show the solution before your own answer is right? [y/n] ")) {
      workspace_.reload();
      if (!passed_) workspace_.of(*exercise_).given_up = true;
      workspace_.save();
      page("\n" + exercise_->master.solution().code);
    }
  }

  void start_over() {
    if (!confirmed(
            "Begin again with the file of the exercise? Yours is kept as NAME.cpp.1. [y/n] "))
      return;
    workspace_.reset(*exercise_);  // the new file is noticed and checked
  }

  bool confirmed(const char* question) {
    fmt::print("\n{}", question);
    std::fflush(stdout);
    const char key = read_key('n');  // Ctrl-C is no confirmation
    fmt::print("{}\n", key == 'y' ? "yes" : "no");
    if (key != 'y') print_keys();
    return key == 'y';
  }

  const Course& course_;
  Workspace& workspace_;
  const Exercise* exercise_;
  const EditorOptions editor_;
  std::set<std::string> asked_;  // chapters
  std::string where_;            // the file and line to begin at
  bool pane_opened_ = false;
  TerminalStyle style_ = TerminalStyle::of(stdout);
  bool passed_ = false, to_compare_ = false, to_compile_ = false;
  bool said_gone_ = false, done_ = false;
  WorkBehind behind_;
  const StopSignals signals_;
};

}  // namespace

Verdict check_once(const Course& course, Workspace& workspace, const Exercise& exercise) {
  TerminalStyle style = TerminalStyle::of(stdout);
  fmt::print("checking {} ...{}", exercise.id, style.live ? "" : "\n");
  std::fflush(stdout);
  const auto began = std::chrono::steady_clock::now();
  const fs::path answer = workspace.answer(exercise), folder = build_folder(workspace);
  const Verdict verdict = judge(course, exercise, course_double, answer, folder);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  style = TerminalStyle::of(stdout);  // an editor may have made the terminal narrower meanwhile
  std::string place;
  if (verdict.kind != Verdict::Kind::passed) {
    place = place_text(answer, line_of(course, exercise, course_double, verdict, answer, folder));
  }
  fmt::print("{}{}", style.live ? "\r\x1b[K" : "", verdict_text(exercise, verdict, style, place));
  fmt::print("{}\n", emphasised(fmt::format("({:.2f} s)", took.count()), Emphasis::faint, style));
  std::fflush(stdout);
  if (verdict.kind == Verdict::Kind::passed) {
    workspace.reload();
    workspace.of(exercise).passed = true;
    workspace.save();
  }
  return verdict;
}

Verdict compare_with_mistakes(const Course& course, const Workspace& workspace,
                              const Exercise& exercise) {
  const TerminalStyle style = TerminalStyle::of(stdout);
  learn_mistakes(course, exercise, course_double, [&](Index done, Index all) {
    if (!style.live && done > 0) return;
    fmt::print("{}comparing with known mistakes, only this once: {} of {} ...{}",
               style.live ? "\r\x1b[K" : "", done, all, style.live ? "" : "\n");
    std::fflush(stdout);
  });
  const Verdict verdict = run_checks(course, exercise, course_double, build_folder(workspace));
  const std::string& message = verdict.message;
  const std::size_t sentence = message.find("It looks as if");
  fmt::print("{}{}\n", style.live ? "\r\x1b[K" : "",
             prose_text(sentence == std::string::npos ? "None of them gives these numbers."
                                                      : shown(message.substr(sentence)),
                        style.columns, 4));
  return verdict;
}

int watch(const Course& course, Workspace& workspace, const Exercise& first,
          const EditorOptions& editor) {
  return Watch(course, workspace, first, editor).run();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
