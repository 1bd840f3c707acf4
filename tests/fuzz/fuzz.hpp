// The common code of the fuzz targets. Each reads something from outside, which may be broken or
// hostile: the worst that may happen is one of our errors. libFuzzer reports everything else
// (another exception, a sanitizer's finding, more than 2 GB, more than 20 seconds) with the input.
//
//   cmake --preset fuzz && cmake --build --preset fuzz && ctest --preset fuzz     a minute for each
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
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

/// The bytes as a file. The same one for each input: the last is gone by then.
inline std::filesystem::path file_of(const std::string& bytes) {
  static const TemporaryFolder folder;
  return folder.file("input", bytes);
}
