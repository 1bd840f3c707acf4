// One holder at a time, whatever happens to it.
#include "headroom/io/file_lock.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

TEST_CASE("a lock has one holder and leaves no file") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "lock";
  {
    std::optional<FileLock> mine = FileLock::if_free(path);
    REQUIRE(mine);
    CHECK_FALSE(FileLock::if_free(path));
    CHECK(FileLock::holder(path) == "process " + std::to_string(getpid()));
    const FileLock moved = std::move(*mine);
    mine.reset();  // what was moved from releases nothing
    CHECK_FALSE(FileLock::if_free(path));
  }
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(FileLock::holder(path) == "another process");
  CHECK(FileLock::if_free(path));
  CHECK_THROWS_AS(FileLock::if_free(folder / "nowhere/lock"), FileError);
}

TEST_CASE("the lock of a killed process is free, and its file names it until then") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "lock";
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::optional<FileLock> lock = FileLock::if_free(path);
    const char sign = lock ? 'y' : 'n';
    if (write(ready[1], &sign, 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  char sign = 0;
  REQUIRE(read(ready[0], &sign, 1) == 1);
  CHECK(sign == 'y');
  CHECK_FALSE(FileLock::if_free(path));
  CHECK(FileLock::holder(path) == "process " + std::to_string(child));
  CHECK(FileLock::held(path));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  close(ready[0]);
  close(ready[1]);
  CHECK_FALSE(FileLock::held(path));
  CHECK(std::filesystem::exists(path));
  CHECK(FileLock::if_free(path));
  CHECK_FALSE(FileLock::held(path));
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("processes that take turns are never inside together") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "lock", count = folder / "count";
  constexpr int processes = 4, turns = 50;
  std::ofstream(count) << 0;
  for (int i = 0; i < processes; ++i) {
    if (fork() != 0) continue;
    for (int done = 0; done < turns;) {
      const std::optional<FileLock> lock = FileLock::if_free(path);
      if (!lock) continue;
      int value = 0;
      std::ifstream(count) >> value;
      std::ofstream(count) << value + 1;
      ++done;
    }
    _exit(0);
  }
  int status = 0;
  while (wait(&status) > 0) CHECK(status == 0);
  int value = 0;
  std::ifstream(count) >> value;
  CHECK(value == processes * turns);
}
