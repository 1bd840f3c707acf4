// Files that are too large, empty, of others, or hold control characters.
#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "cli/runs.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/train/checkpoint.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// The output of the program on a terminal.
std::string on_terminal(std::vector<std::string> arguments, const TemporaryFolder& folder) {
  arguments.insert(arguments.begin(), HEADROOM_PROGRAM);
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  REQUIRE(child >= 0);
  if (child == 0) {
    if (chdir(folder.path().c_str()) == 0) execv(words[0], words.data());
    _exit(127);
  }
  std::string all;
  char part[4096];
  for (ssize_t n; (n = read(terminal, part, sizeof part)) > 0;) all.append(part, std::size_t(n));
  close(terminal);
  waitpid(child, nullptr, 0);
  return all;
}

}  // namespace

TEST_CASE("generated text and paths cannot control the terminal") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\x1b[5m\x1b[6n";
  folder.file("text.txt", text);
  const std::string name = "run\x1b[5m";
  const Finished run = headroom_program(
      {"train",   "--task",   "text",    "--data", "text.txt", "--steps",  "2",
       "--width", "16",       "--heads", "2",      "--layers", "1",        "--batch",
       "4",       "--length", "8",       "--out",  name,       "--no-page"},
      folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.out, Contains("\x1b[5m"));  // a pipe gets the path as it is
  const std::string sampled =
      on_terminal({"sample", "--model", name, "--prompt", "\x1b[", "--length", "300"}, folder);
  CHECK_THAT(sampled, Contains("\\x1B[") && !Contains("\x1b["));
  CHECK(std::count(sampled.begin(), sampled.end(), '\x1b') == 0);
  const std::string page = "page\x1b[5m";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"inspect", "--model", name},
        {"report", "--model", name},
        {"attend", "--model", name, "--input", "\x1b[5m", "--length", "3", "--out", page},
        {"importance", "--model", name, "--metric", "sensitivity", "--examples", "2"},
        {"graph", "--layout", "fused", "--dot", "--out", page + "graph"},
        {"lab", "d2l", "--out", page + "lab"}}) {
    const std::string printed = on_terminal(command, folder);
    INFO(command[0] << ": " << printed);
    CHECK_THAT(printed, Contains("\\x1B[5m") && !Contains("\x1b[5m"));
  }
  const Finished error = headroom_program({"inspect", "--model", "\x1b[5mno"}, folder);
  CHECK_THAT(error.err, Contains("--model \\x1B[5mno does not exist"));
}

TEST_CASE("translate reads a file that begins with a byte order mark") {
  const TemporaryFolder folder;
  REQUIRE(headroom_program(small_run("run", {"--no-page"}), folder).code == 0);
  folder.file("lines",
              "\xEF\xBB\xBF"
              "abc\r\nabc\r\n");
  const Finished read = run_process({"sh", "-c", HEADROOM_PROGRAM " translate --model run <lines"},
                                    {}, folder.path());
  INFO(read.err);
  CHECK(read.code == 0);
  const std::size_t half = read.out.size() / 2;
  CHECK(read.out.substr(0, half) == read.out.substr(half));
}

TEST_CASE("a report is made of 20 MB of telemetry, in fewer points") {
  const TemporaryFolder folder;
  REQUIRE(headroom_program(small_run("run", {"--no-page", "--telemetry", "1"}), folder).code == 0);
  std::string line;
  std::istringstream lines(content(folder / "run/metrics.jsonl"));
  while (std::getline(lines, line) && line.find("\"record\"") == std::string::npos) {
  }
  const std::string step = line.substr(line.find("\"step\":"));
  std::ofstream log(folder / "run/metrics.jsonl", std::ios::app);
  int last = 30;
  for (std::size_t bytes = 0; bytes < 20'000'000; bytes += line.size()) {
    log << line.substr(0, line.size() - step.size()) << "\"step\":" << ++last
        << step.substr(step.find_first_of(",}")) << "\n";
  }
  log.close();
  const Finished made = headroom_program({"report", "--model", "run"}, folder);
  INFO(made.err);
  CHECK(made.code == 0);
  const std::string page = content(folder / "run/report.html");
  CHECK(page.size() < 8'000'000);
  CHECK(page.find(std::to_string(last)) != std::string::npos);  // the last point stays
}

TEST_CASE("a run without examples for validation or test is refused before it trains") {
  const TemporaryFolder folder;
  folder.file("two.dict", "good G UH1 D\nbad B AE1 D\n");
  const Finished run = headroom_program(
      {"train", "--task", "g2p", "--data", "two.dict", "--steps", "1", "--out", "run"}, folder);
  CHECK(run.code == 4);
  CHECK_THAT(run.err, Contains("have no examples for"));
  CHECK_FALSE(fs::exists(folder / "run"));
}

TEST_CASE("--force removes nothing but runs") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "mine");
  folder.file("mine/config.json", R"({"editor": "dark"})");
  folder.file("mine/report.html", "<p>my report</p>");
  const Finished refused = headroom_program(small_run("mine", {"--force"}), folder);
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("mine: its config.json is not that of a run, and only files"));
  CHECK(folder.content("mine/report.html") == "<p>my report</p>");
  folder.file("mine/report.html", "<p>headroom</p>");
  CHECK(headroom_program(small_run("mine", {"--force"}), folder).code == 2);
  CHECK(folder.content("mine/config.json") == R"({"editor": "dark"})");
}

TEST_CASE("--force replaces the runs and pages of every command") {
  const TemporaryFolder folder;
  const auto twice = [&](std::vector<std::string> arguments) {
    INFO(arguments[0]);
    CHECK(headroom_program(arguments, folder).code == 0);
    arguments.emplace_back("--force");
    const Finished again = headroom_program(arguments, folder);
    INFO(again.err);
    CHECK(again.code == 0);
  };
  twice(small_run("run", {"--snapshots", "10,20", "--prune", "2"}));
  twice({"prune", "--model", "run", "--keep", "4", "--examples", "8", "--out", "cut"});
  twice({"attend", "--model", "run", "--input", "abc", "--out", "page"});
  twice({"lab", "d2l", "--out", "lab"});
  REQUIRE(headroom_program(small_run("run", {"--force"}), folder).code == 0);
  CHECK(fs::is_empty(folder / "run/snapshots"));
  REQUIRE(headroom_program(small_run("lab", {"--force"}), folder).code == 0);
}

TEST_CASE("inspect counts the values that are not finite") {
  using namespace headroom;
  const TemporaryFolder folder;
  ModelConfig config;
  config.block = {.width = 8, .heads = 2};
  config.source_vocabulary = config.target_vocabulary = 5;
  Rng rng(1, "init");
  Seq2Seq model(config, rng);
  NamedParameter first = parameters(model)[0];
  Array poisoned = first.tensor.value().clone();
  poisoned[1] = poisoned[3] = std::numeric_limits<Real>::quiet_NaN();
  first.tensor.set_value(poisoned);
  TensorFile file;
  StateWriter to(file);
  to.record("about", Record::object());
  ModelState(model).save_state(to.part("model"));
  file.write(folder / "poisoned.safetensors");
  const Finished text = headroom_program({"inspect", "--model", "poisoned.safetensors"}, folder);
  INFO(text.err);
  CHECK(text.code == 0);
  CHECK_THAT(text.out, Contains("not finite") && Contains("2 of 40 values of model." + first.name));
  const Finished facts =
      headroom_program({"inspect", "--json", "--model", "poisoned.safetensors"}, folder);
  CHECK(json::parse(facts.out)["not_finite"] == json{{"model." + first.name, 2}});
}
