// A library for LD_PRELOAD: it lets one system call of a program fail, and records all calls that
// change files. Only calls on paths in one folder count, and memory that the program itself asks
// for: for arrays ("malloc") and by operator new ("new").
//
//   HEADROOM_CALLS_IN      the folder
//   HEADROOM_CALLS_FAIL    "write 3 ENOSPC": the third write() fails; "write 3+ ENOSPC": so do all
//                          later ones; "write 3 short": it writes half; "write 3 KILL": the process
//                          is killed before it
//   HEADROOM_CALLS_COUNTS  file that gets a line "failed CALL PATH", and a line "calls CALL N" for
//                          each kind of call when the process ends
//   HEADROOM_CALLS_RECORD  file that gets the calls that change files, with their data
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

namespace {

enum Call {
  open_call,
  read_call,
  write_call,
  sync_call,
  rename_call,
  close_call,
  folder_call,
  lock_call,
  map_call,
  pool_call,
  new_call,
  all_calls
};
constexpr std::array<const char*, all_calls> names = {
    "open", "read", "write", "fsync", "rename", "close", "mkdir", "flock", "mmap", "malloc", "new"};

/// While one exists, operator new does not count: this library allocates.
struct Own {
  static thread_local int depth;
  Own() { ++depth; }
  ~Own() { --depth; }
};
thread_local int Own::depth = 0;

struct Failure {
  int call = -1;
  long first = 0;
  bool later_ones = false;
  enum { error, shortened, kill } kind = error;
  int number = 0;  // of the error
};

/// The function of the next library, which this one replaces.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int open_for_appending(const char* variable) {
  const char* const path = std::getenv(variable);
  if (path == nullptr) return -1;
  return int(syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
}

void append(int file, const void* bytes, std::size_t count) {
  const char* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const long written = syscall(SYS_write, file, at, count);
    if (written <= 0) _exit(99);
    at += written;
    count -= std::size_t(written);
  }
}

void append(int file, const std::string& text) { append(file, text.data(), text.size()); }

struct State {
  std::string folder, current;
  Failure failure;
  int counts = -1, record = -1;
  std::array<std::atomic<long>, all_calls> so_far{};
  std::mutex mutex;                   // of the record
  std::uintptr_t begin = 0, end = 0;  // the program's own code

  State() {
    char here[PATH_MAX] = "";
    if (getcwd(here, sizeof here) != nullptr) current = here;
    if (const char* const text = std::getenv("HEADROOM_CALLS_IN")) folder = text;
    if (const char* const text = std::getenv("HEADROOM_CALLS_FAIL")) read_failure(text);
    counts = open_for_appending("HEADROOM_CALLS_COUNTS");
    record = open_for_appending("HEADROOM_CALLS_RECORD");
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
          auto* const state = static_cast<State*>(data);
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& part = info->dlpi_phdr[i];
            if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
            state->begin = info->dlpi_addr + part.p_vaddr;
            state->end = state->begin + part.p_memsz;
          }
          return 1;  // the program comes first, and its libraries are not asked for
        },
        this);
  }

  void read_failure(const char* text) {
    char call[16] = "", how[16] = "", plus = 0;
    if (std::sscanf(text, "%15s %ld%c%15s", call, &failure.first, &plus, how) != 4) _exit(98);
    failure.later_ones = plus == '+';
    const auto named = std::find_if(names.begin(), names.end(), [&](const char* name) {
      return std::string_view(name) == call;
    });
    failure.call = int(named - names.begin());
    const std::string_view kind = how;
    if (kind == "short") failure.kind = Failure::shortened;
    if (kind == "KILL") failure.kind = Failure::kill;
    failure.number = kind == "ENOSPC"       ? ENOSPC
                     : kind == "EINTR"      ? EINTR
                     : kind == "ENOMEM"     ? ENOMEM
                     : kind == "ENOLCK"     ? ENOLCK
                     : kind == "EOPNOTSUPP" ? EOPNOTSUPP
                                            : EIO;
    if (failure.call == all_calls) _exit(98);
  }
};

State& state() {
  const Own own;
  static State* const instance = new State;  // some calls come after all destructors
  return *instance;
}

/// Starts before the program and ends after it.
struct Process {
  Process() { state(); }
  ~Process() {
    const Own own;
    State& s = state();
    if (s.record >= 0) append(s.record, "end\n");
    if (s.counts < 0) return;
    for (int call = 0; call < all_calls; ++call) {
      append(s.counts, std::string("calls ") + names[std::size_t(call)] + " " +
                           std::to_string(s.so_far[std::size_t(call)]) + "\n");
    }
  }
} process;

std::string absolute(const char* path) {
  return path[0] == '/' ? std::string(path) : state().current + "/" + path;
}

std::string path_of(int file) {
  char path[PATH_MAX] = "";
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = readlink(link.c_str(), path, sizeof path - 1);
  return length < 0 ? std::string() : std::string(path, std::size_t(length));
}

bool counts(const std::string& path) {
  const std::string& folder = state().folder;
  return !folder.empty() && path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

enum class Fate { succeed, fail, shorten };

/// Counts a call, and decides whether it fails. Then errno is set.
Fate fate(Call call, const std::string& path) {
  const Own own;
  State& s = state();
  const long number = ++s.so_far[call];
  const Failure& failure = s.failure;
  if (call != failure.call) return Fate::succeed;
  if (failure.later_ones ? number < failure.first : number != failure.first) return Fate::succeed;
  if (s.counts >= 0) append(s.counts, std::string("failed ") + names[call] + " " + path + "\n");
  if (failure.kind == Failure::kill) raise(SIGKILL);
  errno = failure.number;
  return failure.kind == Failure::shortened ? Fate::shorten : Fate::fail;
}

/// A line "CALL FILE ... PATH" of the record, in which files have the numbers of the system, and
/// bytes after it.
void record(const std::string& line, const void* bytes = nullptr, std::size_t count = 0) {
  State& s = state();
  if (s.record < 0) return;
  const int error = errno;
  const std::lock_guard lock(s.mutex);
  append(s.record, line + "\n");
  append(s.record, bytes, count);
  errno = error;
}

std::string number_of(int file) {
  struct stat status {};
  fstat(file, &status);
  return std::to_string(status.st_ino);
}

int open_as(const char* function, const char* name, int flags, mode_t mode) {
  const Own own;
  const std::string path = absolute(name);
  if (!counts(path)) return next<int(const char*, int, ...)>(function)(name, flags, mode);
  if (fate(open_call, path) == Fate::fail) return -1;
  struct stat status {};
  const bool is_new = stat(name, &status) != 0;
  const int file = next<int(const char*, int, ...)>(function)(name, flags, mode);
  if (file < 0) return file;
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if (is_new || writes) record((is_new ? "create " : "open ") + number_of(file) + " " + path);
  if ((flags & O_TRUNC) != 0) record("truncate " + number_of(file) + " 0");
  return file;
}

}  // namespace

extern "C" {

int open(const char* name, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_as("open", name, flags, mode);
}

int open64(const char* name, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_as("open64", name, flags, mode);
}

ssize_t read(int file, void* bytes, std::size_t count) {
  const Own own;
  const std::string path = path_of(file);
  if (counts(path)) {
    const Fate what = fate(read_call, path);
    if (what == Fate::fail) return -1;
    if (what == Fate::shorten) count = (count + 1) / 2;
  }
  return next<ssize_t(int, void*, std::size_t)>("read")(file, bytes, count);
}

ssize_t write(int file, const void* bytes, std::size_t count) {
  const Own own;
  const std::string path = path_of(file);
  const auto write_next = next<ssize_t(int, const void*, std::size_t)>("write");
  if (!counts(path)) return write_next(file, bytes, count);
  const Fate what = fate(write_call, path);
  if (what == Fate::fail) return -1;
  if (what == Fate::shorten) count = (count + 1) / 2;
  struct stat status {};
  fstat(file, &status);
  const bool appends = (fcntl(file, F_GETFL) & O_APPEND) != 0;
  const off_t offset = appends ? status.st_size : lseek(file, 0, SEEK_CUR);
  const ssize_t written = write_next(file, bytes, count);
  if (written > 0) {
    record(
        "write " + number_of(file) + " " + std::to_string(offset) + " " + std::to_string(written),
        bytes, std::size_t(written));
  }
  return written;
}

int ftruncate(int file, off_t size) noexcept {
  const Own own;
  const int result = next<int(int, off_t)>("ftruncate")(file, size);
  if (result == 0 && counts(path_of(file))) {
    record("truncate " + number_of(file) + " " + std::to_string(size));
  }
  return result;
}

int fsync(int file) {
  const Own own;
  const std::string path = path_of(file);
  if (!counts(path)) return next<int(int)>("fsync")(file);
  if (fate(sync_call, path) == Fate::fail) return -1;
  struct stat status {};
  fstat(file, &status);
  record(S_ISDIR(status.st_mode) ? "sync_folder " + path : "sync " + number_of(file));
  return 0;  // the disk of the tests loses no power
}

int rename(const char* from, const char* to) noexcept {
  const Own own;
  const std::string path = absolute(to);
  const auto rename_next = next<int(const char*, const char*)>("rename");
  if (!counts(path)) return rename_next(from, to);
  if (fate(rename_call, path) == Fate::fail) return -1;
  const int result = rename_next(from, to);
  if (result == 0) record("rename " + absolute(from) + "\n" + path);
  return result;
}

int close(int file) {
  const Own own;
  const std::string path = path_of(file);
  const auto close_next = next<int(int)>("close");
  if (!counts(path)) return close_next(file);
  if (fate(close_call, path) == Fate::succeed) return close_next(file);
  const int error = errno;
  close_next(file);  // Linux closes a file whose close() fails
  errno = error;
  return -1;
}

int flock(int file, int operation) noexcept {
  const Own own;
  const std::string path = path_of(file);
  if (counts(path) && fate(lock_call, path) == Fate::fail) return -1;
  return next<int(int, int)>("flock")(file, operation);
}

int unlink(const char* name) noexcept {
  const Own own;
  const int result = next<int(const char*)>("unlink")(name);
  if (result == 0 && counts(absolute(name))) record("unlink " + absolute(name));
  return result;
}

int remove(const char* name) noexcept {
  const Own own;
  const int result = next<int(const char*)>("remove")(name);
  if (result == 0 && counts(absolute(name))) record("unlink " + absolute(name));
  return result;
}

int mkdir(const char* name, mode_t mode) noexcept {
  const Own own;
  const std::string path = absolute(name);
  const auto mkdir_next = next<int(const char*, mode_t)>("mkdir");
  if (!counts(path)) return mkdir_next(name, mode);
  struct stat status {};
  if (stat(name, &status) == 0) return mkdir_next(name, mode);
  if (fate(folder_call, path) == Fate::fail) return -1;
  const int result = mkdir_next(name, mode);
  if (result == 0) record("mkdir " + path);
  return result;
}

void* mmap(void* address, std::size_t length, int protection, int flags, int file,
           off_t offset) noexcept {
  if (fate(map_call, "") == Fate::fail) return MAP_FAILED;
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, length, protection, flags, file, offset));
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  const State& s = state();
  if (caller >= s.begin && caller < s.end && fate(pool_call, "") == Fate::fail) return nullptr;
  return next<void*(std::size_t, std::size_t)>("aligned_alloc")(alignment, size);
}

}  // extern "C"

// Libraries that allocate while they are loaded are not what is tested.
std::atomic<bool> loaded = false;
__attribute__((constructor)) void count_from_now() { loaded = true; }

// The operator delete of the C++ library frees it.
void* operator new(std::size_t size) {
  const bool fails = loaded && Own::depth == 0 && fate(new_call, "") == Fate::fail;
  void* const memory = fails ? nullptr : std::malloc(std::max<std::size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
