// Saving leaves the old file or the new one, whatever happens.
#include "headroom/io/atomic_file.hpp"

#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <utility>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Contains;

namespace {

std::size_t files_in(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator entries(folder);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

// Runs `body` in a child process and returns how it ended, as waitpid() says it.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      body();
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// Another process's action at the most unlucky moment: just before the next lock is taken.
std::function<void()> before_next_lock;

/// Names of the system calls of saving, in their order; fsync tells files from folders.
std::vector<std::string> calls;
bool recorded = false;
int failing_sync = 0;       // fsync() number n fails, from 1
int interruptions = 0;      // so many calls of write() and read() are interrupted by a signal
bool short_pieces = false;  // write() and read() take one byte at a time

void note(const char* call) {
  if (recorded) calls.emplace_back(call);
}
bool interrupted() {
  if (interruptions == 0) return false;
  --interruptions;
  errno = EINTR;
  return true;
}

}  // namespace

// Stands in for the system's.
extern "C" int flock(int descriptor, int operation) noexcept {
  if (before_next_lock) std::exchange(before_next_lock, nullptr)();
  return int(syscall(SYS_flock, descriptor, operation));
}

extern "C" int fsync(int descriptor) {
  struct stat status {};
  fstat(descriptor, &status);
  note(S_ISDIR(status.st_mode) ? "fsync folder" : "fsync file");
  if (failing_sync > 0 && --failing_sync == 0) {
    errno = EIO;
    return -1;
  }
  return int(syscall(SYS_fsync, descriptor));
}
extern "C" int rename(const char* from, const char* to) noexcept {
  note("rename");
  return int(syscall(SYS_rename, from, to));
}
extern "C" ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (interrupted()) return -1;
  return syscall(SYS_write, descriptor, bytes, short_pieces ? std::min<size_t>(count, 1) : count);
}
extern "C" ssize_t read(int descriptor, void* bytes, size_t count) {
  if (interrupted()) return -1;
  return syscall(SYS_read, descriptor, bytes, short_pieces ? std::min<size_t>(count, 1) : count);
}

TEST_CASE("a file is synced before it gets its name, and then its folder is") {
  const TemporaryFolder folder;
  calls.clear();
  recorded = true;
  write_file(folder / "a", "content");
  recorded = false;
  CHECK(calls == std::vector<std::string>{"fsync file", "rename", "fsync folder"});
}

TEST_CASE("a disk that cannot sync is told, and the old file stays as long as it can") {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  failing_sync = 1;
  CHECK_THROWS_WITH(write_file(folder / "a", "new"), Contains("cannot write: Input/output error"));
  CHECK(read_file(folder / "a") == "old");
  CHECK(files_in(folder.path()) == 1);
  failing_sync = 2;  // the folder's: the new file is there, but perhaps not after a power cut
  CHECK_THROWS_WITH(write_file(folder / "a", "new"),
                    Contains("cannot write the folder: Input/output error"));
  CHECK(read_file(folder / "a") == "new");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("signals that interrupt writing and reading change nothing, nor do short pieces") {
  const TemporaryFolder folder;
  const std::string content = "content of a file\n";
  for (const bool pieces : {false, true}) {
    short_pieces = pieces;
    interruptions = 3;
    write_file(folder / "a", content);
    CHECK(interruptions == 0);
    interruptions = 3;
    CHECK(read_file(folder / "a") == content);
    CHECK(interruptions == 0);
    short_pieces = false;
  }
}

TEST_CASE("a written file holds the content, and no temporary stays") {
  const TemporaryFolder folder;
  write_file(folder / "a", "first");
  write_file(folder / "a", std::string("second\0part", 11));
  CHECK(read_file(folder / "a") == std::string("second\0part", 11));
  write_file(folder / "empty", "");
  CHECK(read_file(folder / "empty").empty());
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("without commit the old file stays and the temporary goes") {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    file.write("half of the n");
    CHECK(files_in(folder.path()) == 2);
  }
  CHECK(read_file(folder / "a") == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a process killed at any moment of saving leaves a whole file") {
  const TemporaryFolder folder;
  const std::string old_content(1'000'000, 'a'), new_content(1'000'000, 'b');
  write_file(folder / "a", old_content);
  for (int round = 0; round < 30; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) write_file(folder / "a", new_content);
    }
    usleep(static_cast<useconds_t>(137 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string found = read_file(folder / "a");
    REQUIRE((found == old_content || found == new_content));
  }
  write_file(folder / "a", new_content);
  CHECK(files_in(folder.path()) == 1);  // what the killed ones left behind is gone
}

TEST_CASE(
    "leftovers of killed processes are removed, files of others and of live writers are not") {
  const TemporaryFolder folder;
  folder.file(".a.123-4.tmp", "left behind");
  folder.file(".ab.123-4.tmp", "another file's");
  folder.file(".a.notes.tmp", "the user's");
  AtomicFile live(folder / "a");
  live.write("from the first writer");
  write_file(folder / "a", "from the second writer");
  CHECK_FALSE(std::filesystem::exists(folder / ".a.123-4.tmp"));
  CHECK(std::filesystem::exists(folder / ".ab.123-4.tmp"));
  CHECK(std::filesystem::exists(folder / ".a.notes.tmp"));
  live.commit();
  CHECK(read_file(folder / "a") == "from the first writer");
}

TEST_CASE("a temporary that another writer takes for a leftover before it is locked is made anew") {
  const TemporaryFolder folder;
  before_next_lock = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      std::filesystem::remove(entry.path());
    }
  };
  write_file(folder / "a", "whole");
  CHECK_FALSE(before_next_lock);
  CHECK(read_file(folder / "a") == "whole");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a written file may be read by whom any new file may be read") {
  const TemporaryFolder folder;
  folder.file("plain", "");
  write_file(folder / "a", "");
  CHECK(std::filesystem::status(folder / "a").permissions() ==
        std::filesystem::status(folder / "plain").permissions());
}

TEST_CASE("when the disk takes no more, the old file stays whole and the reason is told") {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  const int status = in_child([&] {
    const rlimit limit{.rlim_cur = 100'000, .rlim_max = 100'000};
    std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_file(folder / "a", std::string(1'000'000, 'b'));
    } catch (const FileError& error) {
      const std::string words = error.what();
      _exit(words == (folder / "a").string() + ": cannot write: File too large" ? 42 : 43);
    }
  });
  CHECK(WEXITSTATUS(status) == 42);
  CHECK(read_file(folder / "a") == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("what cannot be written is refused by path and reason") {
  const TemporaryFolder folder;
  folder.file("file", "");
  CHECK_THROWS_AS(write_file(folder / "none" / "a", ""), FileError);
  CHECK_THROWS_WITH(write_file(folder / "none" / "a", ""),
                    (folder / "none" / "a").string() + ": cannot write: No such file or directory");
  CHECK_THROWS_WITH(write_file(folder / "file" / "a", ""), Contains("Not a directory"));
  CHECK_THROWS_WITH(write_file(folder.path(), ""), Contains("cannot write: it is a folder"));
  CHECK_THROWS_WITH(write_file(folder / std::string(300, 'x'), ""), Contains("File name too long"));
  // Nobody may write here, not even root.
  CHECK_THROWS_WITH(write_file("/proc/headroom", ""), Contains("/proc/headroom: cannot write: "));
}

TEST_CASE("a full file system leaves the old file whole and is told as such") {
  const TemporaryFolder folder;
  const int status = in_child([&] {
    // A file system of 64 KB of this process's own.
    if (unshare(CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
      _exit(44);
    }
    write_file(folder / "a", "old");
    try {
      write_file(folder / "a", std::string(1'000'000, 'b'));
    } catch (const FileError& error) {
      const std::string words = error.what();
      const bool whole = read_file(folder / "a") == "old" && files_in(folder.path()) == 1;
      const bool told =
          words == (folder / "a").string() + ": cannot write: No space left on device";
      _exit(whole && told ? 42 : 43);
    }
  });
  if (WEXITSTATUS(status) == 44) {
    WARN("skipped: this process may not mount a file system");
    return;
  }
  CHECK(WEXITSTATUS(status) == 42);
}

TEST_CASE("a folder without write permission is refused, and its file stays") {
  const TemporaryFolder folder;
  folder.file("a", "old");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  const int status = in_child([&] {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(44);  // root may write everywhere
    try {
      write_file(folder / "a", "new");
    } catch (const FileError& error) {
      const std::string words = error.what();
      _exit(words == (folder / "a").string() + ": cannot write: Permission denied" ? 42 : 43);
    }
  });
  CHECK(WEXITSTATUS(status) == 42);
  CHECK(read_file(folder / "a") == "old");
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

TEST_CASE("what cannot be read is refused by path and reason") {
  const TemporaryFolder folder;
  folder.file("long", "12345");
  mkfifo((folder / "pipe").c_str(), 0600);
  CHECK_THROWS_WITH(read_file(folder / "none"), Contains("cannot read: No such file or directory"));
  CHECK_THROWS_WITH(read_file(folder.path()), Contains("cannot read: it is a folder"));
  CHECK_THROWS_WITH(read_file("/dev/zero"), Contains("cannot read: it is not a file"));
  CHECK_THROWS_WITH(read_file(folder / "pipe"), Contains("cannot read: it is not a file"));
  CHECK_THROWS_WITH(read_file(folder / "long", 4), Contains("5 bytes, more than the 4"));
  CHECK(read_file(folder / "long", 5) == "12345");
}
