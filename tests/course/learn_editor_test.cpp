// Finding an editor, and the line at which it begins.
#include "course/learn_editor.hpp"

#include <map>
#include <set>

#include "course/learn_place.hpp"
#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

using Words = std::vector<std::string>;

/// The command for line 7 of /a b/1.cpp in an environment.
EditorCommand command_in(const std::map<std::string, std::string>& variables,
                         const std::set<std::string>& programs = {"code", "vim", "tmux", "zellij"},
                         const EditorOptions& options = {}) {
  return editor_command(
      options, "/a b/1.cpp", 7,
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? "" : found->second;
      },
      [&](const std::string& program) { return programs.contains(program); });
}

}  // namespace

TEST_CASE("the editor is the one around the terminal") {
  CHECK(command_in({}).words.empty());
  CHECK(command_in({{"EDITOR", "vim"}}).words.empty());  // it would need this terminal
  const Words code{"code", "--goto", "/a b/1.cpp:7"};
  CHECK(command_in({{"TERM_PROGRAM", "vscode"}}).words == code);
  CHECK(command_in({{"VSCODE_IPC_HOOK_CLI", "/run/x"}, {"TMUX", "y"}, {"EDITOR", "vim"}}).words ==
        code);
  CHECK(command_in({{"TERM_PROGRAM", "vscode"}}, {}).words.empty());
  const EditorCommand tmux = command_in({{"TMUX", "x"}, {"EDITOR", "vim -u NONE"}});
  CHECK(tmux.words ==
        Words{"tmux", "split-window", "-h", "--", "vim", "-u", "NONE", "+7", "/a b/1.cpp"});
  CHECK(tmux.new_pane);
  CHECK(
      command_in({{"TMUX", "x"}, {"TMUX_PANE", "%3"}, {"VISUAL", "vim"}, {"EDITOR", "ed"}}).words ==
      Words{"tmux", "split-window", "-h", "-t", "%3", "--", "vim", "+7", "/a b/1.cpp"});
  CHECK(command_in({{"ZELLIJ", "0"}, {"VISUAL", "vim"}}).words ==
        Words{"zellij", "action", "new-pane", "--direction", "right", "--", "vim", "+7",
              "/a b/1.cpp"});
  CHECK(command_in({{"TMUX", "x"}}).words.empty());
  CHECK(command_in({{"TMUX", "x"}, {"EDITOR", "ed"}}).words.empty());  // is not installed
}

TEST_CASE("the learner's own command comes first, and none is none") {
  const std::map<std::string, std::string> code{{"TERM_PROGRAM", "vscode"}};
  CHECK(command_in(code, {"code"}, {"kate -l {line} {file}", false}).words ==
        Words{"sh", "-c", "kate -l 7 '/a b/1.cpp'"});
  CHECK_THROWS_AS(command_in(code, {"code"}, {"kate", false}), UsageError);
  CHECK(command_in(code, {"code"}, {"kate {file}", true}).words.empty());
  CHECK(command_in({{"TERM_PROGRAM", "vscode"}, {"HEADROOM_NO_EDITOR", "1"}}).words.empty());
}

TEST_CASE("each editor has its own way to begin at a line") {
  const auto words = [](const char* editor) { return at_line(editor, "1.cpp", 7); };
  for (const char* editor : {"vi", "vim", "nvim", "nano", "kak", "micro", "/usr/bin/vim"}) {
    CHECK(words(editor) == Words{editor, "+7", "1.cpp"});
  }
  CHECK(words("emacs") == Words{"emacs", "-nw", "+7", "1.cpp"});
  CHECK(words("hx") == Words{"hx", "1.cpp:7"});
  CHECK(words("helix") == Words{"helix", "1.cpp:7"});
  CHECK(words("codium --wait") == Words{"codium", "--wait", "--goto", "1.cpp:7"});
  CHECK(words("unknown") == Words{"unknown", "1.cpp"});
  CHECK(words("").empty());
}

TEST_CASE("an answer begins at its first gap, else at its first function") {
  CHECK(first_gap("#include \"a.hpp\"\n// chapter::todo(\n\nint f(int x) {\n"
                  "  return chapter::todo(\"it\");\n}\n") == 5);
  CHECK(first_gap(
            "#include \"a.hpp\"\nnamespace n {\nint f(int x);\nint f(int x) {\n  g(1);\n}\n") == 4);
  CHECK(first_gap("") == 1);
}
