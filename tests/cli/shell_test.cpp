// Options that every command has, and what is generated from the rows of all options.
#include <algorithm>
#include <set>

#include "cli/runs.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

std::string printed(const TemporaryFolder& folder, std::vector<std::string> words) {
  const Finished run = headroom_program(std::move(words), folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  return run.out;
}

/// The commands that the help of the program lists.
std::vector<std::string> all_commands_of(const TemporaryFolder& folder) {
  std::istringstream lines(printed(folder, {"--help"}));
  std::vector<std::string> commands;
  bool listed = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Commands:") {
      listed = true;
    } else if (listed && line.empty()) {
      break;
    } else if (listed) {
      commands.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return commands;
}

/// The long options in a help text.
std::set<std::string> options_in(const std::string& help) {
  std::set<std::string> options;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  -")) continue;
    std::istringstream names(line.substr(2, line.find(' ', 2) - 2));
    for (std::string name; std::getline(names, name, ',');) {
      if (name.starts_with("--")) options.insert(name);
    }
  }
  return options;
}

}  // namespace

TEST_CASE("each option is in the help, in all completions and in the man page of its command") {
  const TemporaryFolder folder;
  const std::string bash = printed(folder, {"completion", "bash"}),
                    zsh = printed(folder, {"completion", "zsh"}),
                    fish = printed(folder, {"completion", "fish"}),
                    overview = printed(folder, {"man"});
  const std::vector<std::string> commands = all_commands_of(folder);
  REQUIRE(commands.size() >= 20);
  std::size_t seen = 0;
  for (const std::string& command : commands) {
    INFO(command);
    CHECK_THAT(overview, Contains("headroom\\-" + command));
    if (command == "learn") continue;  // another program reads its options
    const std::string help = printed(folder, {command, "--help-all"});
    CHECK_THAT(help, Contains("Example"));
    const std::set<std::string> options = options_in(help);
    for (const char* common : {"--json", "--quiet", "--help-all", "--help"}) {
      INFO(common);
      CHECK(options.contains(common));
    }
    std::string page = printed(folder, {"man", command});
    page.erase(std::remove(page.begin(), page.end(), '\\'), page.end());
    const std::string of_bash = bash.substr(bash.find("    '" + command + "') words="));
    const std::string words = of_bash.substr(0, of_bash.find('\n'));
    const std::string of_zsh = zsh.substr(zsh.find("_headroom_" + command + "() {"));
    for (const std::string& option : options) {
      INFO(option);
      ++seen;
      CHECK_THAT(words, Contains(option));
      CHECK_THAT(of_zsh.substr(0, of_zsh.find("\n}")), Contains("'" + option + "["));
      CHECK_THAT(page, Contains("fB" + option + "fR"));
      CHECK_THAT(fish, Contains("__fish_seen_subcommand_from " + command) &&
                           Contains(" -l " + option.substr(2)));
    }
  }
  CHECK(seen > 250);
  CHECK(headroom_program({"completion", "tcsh"}, folder).code == 2);
  CHECK(headroom_program({"man", "trian"}, folder).code == 2);
}

TEST_CASE("bash completes commands, options, values and files") {
  const TemporaryFolder folder;
  folder.file("headroom.bash", printed(folder, {"completion", "bash"}));
  folder.file("data.tsv", "a\tb\n");
  const auto completed = [&](const std::string& words) {
    const Finished run = run_process(
        {"bash", "-c",
         "source headroom.bash; COMP_WORDS=(headroom " + words +
             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _headroom; echo \"${COMPREPLY[*]}\""},
        {}, folder.path());
    INFO(run.err);
    CHECK(run.code == 0);
    return run.out;
  };
  CHECK(completed("tra") == "train translate\n");
  CHECK(completed("train --epo") == "--epochs\n");
  CHECK(completed("train --optimizer la") == "lamb\n");
  CHECK(completed("train --data da") == "data.tsv\n");
  CHECK(completed("runs com") == "compare\n");
  CHECK(completed("runs compare --for") == "--force\n");
  CHECK(completed("evaluate --set te") == "test\n");
}

TEST_CASE("man pages and scripts are written where packages put them") {
  const TemporaryFolder folder;
  REQUIRE(headroom_program({"completion", "--install", "share"}, folder).code == 0);
  for (const char* file :
       {"share/bash-completion/completions/headroom", "share/zsh/site-functions/_headroom",
        "share/fish/vendor_completions.d/headroom.fish", "share/man/man1/headroom.1",
        "share/man/man1/headroom-train.1"}) {
    CHECK(std::filesystem::exists(folder / file));
  }
}

TEST_CASE("--help shows the options that matter first, --help-all the others, too") {
  const TemporaryFolder folder;
  const std::string brief = printed(folder, {"train", "--help"}),
                    all = printed(folder, {"train", "--help-all"});
  CHECK(options_in(brief).size() < 30);
  CHECK(options_in(all).size() > 90);
  CHECK_THAT(brief, Contains("--task NAME") && Contains("--help-all lists ") &&
                        Contains("Example") && !Contains("--label-smoothing"));
  CHECK_THAT(all, Contains("--label-smoothing") && Contains("Defaults by task:"));
}

TEST_CASE("--json prints the result alone, and --quiet nothing but results and errors") {
  const TemporaryFolder folder;
  const std::vector<std::string> small{"train",   "--task",  "reverse", "--steps", "4",
                                       "--width", "16",      "--heads", "2",       "--layers",
                                       "1",       "--batch", "8",       "--out"};
  std::vector<std::string> words = small;
  words.insert(words.end(), {"run", "--json"});
  const Finished trained = headroom_program(words, folder);
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const json result = json::parse(trained.out);
  CHECK(result["folder"] == "run");
  CHECK(result["summary"] == json::parse(content(folder / "run/summary.json")));
  CHECK_THAT(trained.err, Contains("step 4/4") && Contains("exact_match"));

  const auto json_of_command = [&](std::vector<std::string> command) {
    command.emplace_back("--json");
    const Finished run = headroom_program(command, folder);
    INFO(run.err);
    CHECK(run.code == 0);
    return json::parse(run.out);
  };
  CHECK(json_of_command({"report", "--model", "run"})["page"] == "run/report.html");
  CHECK(json_of_command({"prune", "--model", "run", "--keep", "4", "--out", "cut"})["folder"] ==
        "cut");
  CHECK(json_of_command({"graph", "--dot", "--out", "graphs"})["files"].size() >= 1);
  CHECK(json_of_command({"translate", "--model", "run", "abc"})[0]["input"] == "abc");
  CHECK(json_of_command({"completion", "--install", "installed"})["exit_code"] == 0);
  CHECK(json_of_command({"runs", "remove", "cut", "--yes"}) ==
        json({{"runs", {"cut"}}, {"folders", {"cut"}}}));

  words = small;
  words.insert(words.end(), {"quiet", "--quiet"});
  const Finished quiet = headroom_program(words, folder);
  CHECK(quiet.code == 0);
  CHECK(quiet.err.empty());
  CHECK_THAT(quiet.out, Contains("exact_match"));
  const Finished failed = headroom_program({"train", "--from", "nowhere", "--quiet"}, folder);
  CHECK(failed.code == 5);
  CHECK(failed.err == "error: --from nowhere does not exist\n");
}
