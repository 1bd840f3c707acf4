// Child programs: what goes in, what comes out, and how they end.
#include "headroom/io/child_program.hpp"

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

TEST_CASE("a child program gets arguments, input and environment; code and outputs come back") {
  const ChildResult result =
      ChildProgram({"sh", "-c", "cat; echo $WORD $0 >&2; exit 7", "first"}, "given", {"WORD=value"})
          .wait();
  CHECK(result.code == 7);
  CHECK(result.out == "given");
  CHECK(result.err == "value first\n");
  CHECK(run_child({"/nowhere/program"}).code == ChildResult::not_found);
  CHECK_THROWS_WITH(run_child({"/"}), Contains("/: cannot be run: Permission denied"));
}

TEST_CASE("a child program runs beside this one until it ends, is stopped or is left") {
  ChildProgram child({"sleep", "60"});
  CHECK_FALSE(child.poll());
  child.send(SIGTERM);
  CHECK(child.wait().code == 128 + SIGTERM);
  const ChildProgram left({"sleep", "60"});  // its destructor does not wait a minute
}

TEST_CASE("a signal that interrupts the wait for a child program is not the program's end") {
  struct sigaction action = {}, before = {};
  action.sa_handler = [](int) {};  // without SA_RESTART, so that system calls are interrupted
  sigaction(SIGALRM, &action, &before);
  const itimerval often{.it_interval = {0, 20'000}, .it_value = {0, 20'000}}, off{};
  ChildProgram child({"sh", "-c", "sleep 0.2; exit 7"});
  setitimer(ITIMER_REAL, &often, nullptr);
  const ChildResult result = child.wait();
  setitimer(ITIMER_REAL, &off, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  CHECK(result.code == 7);
}

TEST_CASE("a child program does not outlive a killed parent") {
  const TemporaryFolder folder;
  const std::string file = folder / "child";
  const pid_t parent = fork();
  if (parent == 0) {
    ChildProgram child(
        {"sh", "-c",
         "echo $$ > " + file + ".new; mv " + file + ".new " + file + "; exec sleep 60"});
    child.wait();
    _exit(0);
  }
  while (!std::filesystem::exists(file)) usleep(1000);
  pid_t child = 0;
  std::ifstream(file) >> child;
  REQUIRE(child > 0);
  CHECK(kill(child, 0) == 0);
  kill(parent, SIGKILL);
  int status = 0;
  waitpid(parent, &status, 0);
  const auto lives = [&] {  // nobody may have collected it yet: then it is a zombie
    std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
    std::string number, name, state;
    return stat >> number >> name >> state && state != "Z";
  };
  int waits = 0;
  while (lives() && ++waits < 5000) usleep(1000);
  CHECK_FALSE(lives());
}
