// headroom learn: the course.
#include "course/learn.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/frame/common_options.hpp"
#include "cli/frame/streams.hpp"
#include "cli/frame/validators.hpp"
#include "course/learn_attempts.hpp"
#include "course/learn_behind.hpp"
#include "course/learn_judge.hpp"
#include "course/learn_keys.hpp"
#include "course/learn_mine.hpp"
#include "course/learn_mistakes.hpp"
#include "course/learn_place.hpp"
#include "course/learn_predictions.hpp"
#include "course/learn_questions.hpp"
#include "course/learn_report.hpp"
#include "course/learn_rewards.hpp"
#include "course/learn_run.hpp"
#include "course/learn_screen.hpp"
#include "course/learn_send.hpp"
#include "course/learn_session.hpp"
#include "course/learn_watch.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/child_program.hpp"
#include "headroom/io/fields.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// Checks an answer, and adds it to the learner's functions if it passes. Returns the exit code.
int check_and_add(Session& session, const Exercise& exercise) {
  note_begin(session.workspace, exercise);
  const std::string code = read_file(session.workspace.answer(exercise));
  Verdict verdict = check_once(session.course, session.workspace, exercise);
  if (is_to_compare(session.course, exercise, course_double, verdict)) {
    verdict = compare_with_mistakes(session.course, session.workspace, exercise);
  }
  note_attempt(session.workspace, exercise, verdict);
  fmt::print("{}", offer_text(exercise, verdict, TerminalStyle::of(stdout)));
  set_result({{"exercise", exercise.id},
              {"passed", verdict.kind == Verdict::Kind::passed},
              {"stage", verdict.stage},
              {"message", verdict.message}});
  if (verdict.kind != Verdict::Kind::passed) return not_passed;
  keep_answer(session.workspace, exercise, code);
  if (questions_are_due(session.course, session.workspace, exercise)) {
    fmt::print("The exercises of this chapter are done; {} learn questions {} asks what it says.\n",
               invocation(), exercise.part());
  }
  return 0;
}

int learn(const LearnOptions& options) {
  Session session(options);
  const Exercise& exercise = session.exercise(options.id);
  if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1) {
    return watch(session.course, session.workspace, exercise, options.editor);
  }
  session.workspace.begin(exercise);
  session.workspace.state.current = exercise.id;
  session.workspace.save();
  fmt::print("{}\n",
             card_text(session.course, session.workspace, exercise, TerminalStyle::of(stdout)));
  return check_and_add(session, exercise);
}

int check(const LearnOptions& options) {
  Session session(options);
  const Exercise& exercise = session.exercise(options.id);
  session.workspace.begin(exercise);
  return check_and_add(session, exercise);
}

int behind(const LearnOptions& options) {
  const Session session(options);
  work_behind(session.course, session.workspace, session.exercise(options.id));
  return 0;
}

int hint(const LearnOptions& options) {
  Session session(options);
  fmt::print("{}",
             hint_text(session.workspace, session.exercise(options.id), TerminalStyle::of(stdout)));
  return 0;
}

int solution(const LearnOptions& options) {
  Session session(options);
  const Exercise& exercise = session.exercise(options.id);
  ExerciseState& state = session.workspace.of(exercise);
  if (!state.passed && !options.give_up) {
    throw UsageError(fmt::format("{} is not done yet; add --give-up to see the solution anyway",
                                 exercise.text()));
  }
  if (!state.passed) state.given_up = true;
  session.workspace.save();
  fmt::print("{}", exercise.master.solution().code);
  return 0;
}

int reset(const LearnOptions& options) {
  Session session(options);
  const Exercise& exercise = session.exercise(options.id);
  const fs::path kept = session.workspace.reset(exercise);
  fmt::print("{}\n", shown(session.workspace.answer(exercise).string()));
  if (!kept.empty()) fmt::print("Your file is now {}.\n", shown(kept.string()));
  return 0;
}

int predict(const LearnOptions& options) {
  Session session(options);
  const std::string id = checked_prediction(session.course, options.id, options.value);
  session.workspace.state.predictions[id] = options.value;
  session.workspace.save();
  note_prediction(session.workspace, id, options.value);
  fmt::print("You predict {} for {}. The experiment will show it.\n", options.value, id);
  return 0;
}

int predictions(const LearnOptions& options) {
  const Session session(options);
  fmt::print("{}", predictions_text(session.course, session.workspace, options.chapter,
                                    TerminalStyle::of(stdout)));
  return 0;
}

int questions(const LearnOptions& options) {
  Session session(options);
  const TerminalStyle style = TerminalStyle::of(stdout);
  const Exercise& exercise = options.chapter.empty()
                                 ? session.exercise("")
                                 : chapter_exercise(session.course, options.chapter);
  if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 &&
      !questions_of(session.course, exercise).empty()) {
    const KeyMode keys;
    ask_questions(session.course, session.workspace, exercise, true, style);
  } else {
    fmt::print("{}", questions_text(session.course, exercise, style));
  }
  return 0;
}

int attempts(const LearnOptions& options) {
  Session session(options);
  if (options.on || options.off) {
    session.workspace.state.attempts = options.off ? "off" : "";
    session.workspace.save();
  }
  const fs::path file = attempts_file(session.workspace.folder());
  const auto count = read_attempts(session.workspace.folder()).size();
  fmt::print(
      "Attempts are {}. {} has {} events; it is a text, is sent nowhere, and may be deleted.\n",
      session.workspace.state.attempts == "off" ? "not kept" : "kept", shown(short_path(file)),
      count);
  return 0;
}

int report(const LearnOptions& options) {
  Session session(options);
  const fs::path file =
      options.file.empty() ? session.workspace.folder() / "report.html" : fs::path(options.file);
  write_file(file, report_page(session.course, session.workspace));
  fmt::print("{}\n", shown(short_path(file)));
  return 0;
}

int send(const LearnOptions& options) {
  Session session(options);
  const Exercise& exercise = session.exercise(options.id);
  const fs::path file = write_for_sending(session.course, session.workspace, exercise);
  fmt::print("{}\n", shown(short_path(file)));
  fmt::print(
      "It has your answer, what the checks said, and versions, without names and folders of yours. "
      "This program sends nothing: read it, then attach it to a report.\n");
  return 0;
}

int board(const LearnOptions& options) {
  const Session session(options);
  show_board(session.workspace);
  return 0;
}

int milestone(const LearnOptions& options) {
  const Session session(options);
  return run_milestone(session.course, session.workspace, options.chapter);
}

}  // namespace

Command add_course(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("learn", "The course: checks your answers as you save them");
  const auto options = std::make_shared<LearnOptions>();
  const auto action = std::make_shared<std::function<int()>>();
  *action = [options] { return learn(*options); };
  app->add_option("EXERCISE", options->id,
                  "an exercise or its function: 07/1, softmax (default: the current one)")
      ->type_name("");
  app->add_option("--edit-cmd", options->editor.command,
                  "command that opens your file: \"gedit +{line} {file}\" (default: VS Code in its "
                  "terminal; VISUAL or EDITOR in a pane of tmux or Zellij)")
      ->type_name("CMD");
  app->add_option("--pack", options->packs,
                  "also use the exercises, or the translation, of a pack; before a command")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  app->add_flag("--no-editor", options->editor.none, "open no editor");
  app->require_subcommand(0, 1);
  const auto add = [&](const char* name, const char* does, int (*run)(const LearnOptions&)) {
    CLI::App* command = app->add_subcommand(name, does);
    command->callback(
        [action, options, run] { *action = [options, run] { return run(*options); }; });
    return command;
  };
  const auto add_id = [&](CLI::App* command, bool required = false) {
    command->add_option("EXERCISE", options->id, "the exercise (default: the current one)")
        ->type_name("")
        ->required(required);
    return command;
  };
  add_id(add("check", "checks an answer once", check));
  add_id(add("behind", "does the work that no verdict waits for", behind))->group("");
  add("list", "lists the exercises", list)
      ->add_flag("--json", options->json, "print JSON, for programs");
  add_id(add("hint", "shows the next hint", hint));
  add_id(add("solution", "shows the solution of an exercise that is done", solution))
      ->add_flag("--give-up", options->give_up, "also show it if the exercise is not done");
  add_id(add("reset", "begins an exercise again; your file is kept under another name", reset));
  CLI::App* predicted = add("predict", "stores a prediction before an experiment", predict);
  predicted->add_option("PREDICTION", options->id, "its name in the chapter, for example 07/a")
      ->type_name("")
      ->required();
  predicted->add_option("VALUE", options->value, "the number that you expect")
      ->type_name("")
      ->required();
  add("predictions", "shows your predictions beside what experiments measured", predictions)
      ->add_option("CHAPTER", options->chapter, "number of a chapter, such as 07 (default: all)")
      ->type_name("");
  add("questions", "asks the questions of a chapter", questions)
      ->add_option("CHAPTER", options->chapter, "number of the chapter (default: the current one)")
      ->type_name("");
  CLI::App* kept = add("attempts", "says where your attempts are kept, or switches that", attempts);
  CLI::Option* off = kept->add_flag("--off", options->off, "keep none from now on");
  kept->add_flag("--on", options->on, "keep them (this is the default)")->excludes(off);
  add("report", "writes a page about your attempts, predictions and answers", report)
      ->add_option("--out", options->file, "file to write (default: report.html of the workspace)")
      ->type_name("FILE");
  add_id(add("send", "writes an answer and its verdict to a file, to attach to a report", send));
  const auto add_run = [&](const char* name, const char* does, std::vector<std::string> first) {
    CLI::App* command = app->add_subcommand(name, does);
    command->prefix_command();
    command->callback([action, options, command, first] {
      *action = [options, command, first] {
        const Session session(*options);
        std::vector<std::string> words = first;
        for (const std::string& word : command->remaining()) words.push_back(word);
        return run_with_mine(session.course, session.workspace, words);
      };
    });
  };
  add_run("run", "runs a command or experiment on your functions; --all asks nothing", {});
  add("milestone", "runs the commands that complete a chapter, with your functions", milestone)
      ->add_option("CHAPTER", options->chapter, "number of the chapter in two digits, such as 07")
      ->type_name("")
      ->required();
  add("board", "shows your answers to: which half of the heads can go?", board);
  add_run("demo", "runs the demo with your functions", {"demo"});
  CLI::App* graded = add("grade", "checks all answers of the workspace", grade);
  graded->add_flag("--json", options->json, "print JSON");
  graded->add_flag("--junit", options->junit, "print XML in the format of JUnit");
  graded->add_flag("--csv", options->csv, "with --items: print comma-separated values");
  graded
      ->add_option("--items", options->items,
                   "for teachers: compare the exercises over the workspaces of several learners")
      ->type_name("FOLDER...");
  CLI::App* pack = add("pack", "lists the packs that are used, adds or removes one", pack_command);
  pack->add_option("ACTION", options->value, "add or remove (default: list them)")->type_name("");
  pack->add_option("PACK", options->folder, "folder of the pack, or its name to remove it")
      ->type_name("");
  CLI::App* made =
      add("new", "makes a pack: exercises of your own, outside of the course", new_pack);
  made->add_option("NAME", options->value, "its name, such as sums")->type_name("")->required();
  made->add_option("FOLDER", options->folder, "folder to write it to (default: its name)")
      ->type_name("");
  add("check-pack", "tries the answers of a pack, and looks for texts that are missing", check_pack)
      ->add_option("FOLDER", options->folder, "folder of the pack")
      ->type_name("")
      ->required();
  add_id(
      add("generate", "writes the solution, skeleton and wrong answers of an exercise", generate),
      true)
      ->add_option("folder", options->folder, "folder to write them to")
      ->required();
  CLI::App* tried = add("try", "tries all answers of the master files, for authors", try_all);
  tried->add_option("exercises", options->trial.ids, "exercises to try (default: all)");
  tried->add_flag("--float", options->in_float, "try them in float (default: in double)");
  CLI::Option* sanitize =
      tried->add_flag("--sanitize", options->sanitize,
                      "try the solutions in double, with AddressSanitizer and UBSan");
  CLI::Option* solutions =
      tried->add_flag("--solutions", options->trial.solutions_only, "try only the solutions");
  tried
      ->add_flag("--missing", options->trial.missing_only,
                 "try only answers without the function: an empty file, another name, ...")
      ->excludes(solutions)
      ->excludes(sanitize);
  tried->add_option("--parts", options->trial.parts, "try every N-th exercise only")
      ->check(at_least(1));
  tried->add_option("--part", options->trial.part,
                    "with --parts: begin with exercise number N, from 0");
  return {app, [action] { return (*action)(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
