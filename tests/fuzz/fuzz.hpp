// The common code of the fuzz targets. Each reads something from outside, which may be broken or
// hostile: the worst that may happen is one of our errors. libFuzzer reports everything else
// (another exception, a sanitizer's finding, more than 2 GB, more than 20 seconds) with the input.
//
//   cmake --preset fuzz && cmake --build --preset fuzz && ctest --preset fuzz     a minute for each
#pragma once

#include <fuzzer/FuzzedDataProvider.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "headroom/base/error.hpp"
#include "support/temporary_folder.hpp"

/// Calls `read`, which may refuse its input with an Error; true when it did not.
template <class F>
bool reads(const F& read) {
  try {
    read();
    return true;
  } catch (const headroom::Error&) {
    return false;
  }
}

/// A check: what does not hold stops the fuzzer at once, which keeps the input.
inline void must(bool condition) {
  if (!condition) std::abort();
}

/// Measures the processor time of an input, from its construction to its end, and the memory of the
/// process. An input that needs too much stops the fuzzer, which keeps it. When libFuzzer ends, it
/// prints how many inputs there were and what the slowest took; campaign.py reads that.
///
/// The time is that of the processor for all threads: on a busy machine an input also waits, which
/// is not its fault. The memory is the most that the process ever had: libFuzzer looks once a
/// second.
class InputCost {
 public:
  struct Limits {
    double milliseconds, megabytes;
  };

  explicit InputCost(Limits limits) : limits_(limits), begin_(now()) {}
  InputCost(const InputCost&) = delete;
  InputCost& operator=(const InputCost&) = delete;
  ~InputCost() {
    const double took = now() - begin_;
    Worst& worst = worst_of_all();
    ++worst.inputs;
    if (took > worst.milliseconds) worst.milliseconds = took;
    must(took <= limits_.milliseconds);
    must(most_megabytes() <= limits_.megabytes);
  }

  /// Files of other programs, which people fetch from everywhere.
  static constexpr Limits of_foreign_files = {100, 512};

 private:
  struct Worst {
    long inputs = 0;
    double milliseconds = 0;
    ~Worst() { std::fprintf(stderr, "slowest of %ld inputs: %.1f ms\n", inputs, milliseconds); }
  };

  static double now() {
    std::timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e3 * double(time.tv_sec) + 1e-6 * double(time.tv_nsec);
  }
  static double most_megabytes() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return double(used.ru_maxrss) / 1024;
  }
  static Worst& worst_of_all() {
    static Worst worst;
    return worst;
  }

  Limits limits_;
  double begin_;
};

/// The bytes as a file. The same one for each input: the last is gone by then.
inline std::filesystem::path file_of(const std::string& bytes) {
  static const TemporaryFolder folder;
  return folder.file("input", bytes);
}
