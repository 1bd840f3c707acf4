// Manifest: what a checkpoint belongs to, so that a run resumes as the run that it was.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "headroom/io/fields.hpp"
#include "headroom/io/tensor_file.hpp"
#include "headroom/train/metrics_log.hpp"
#include "headroom/train/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A part of every checkpoint from which a run can be resumed. It has no paths and no times: equal
/// runs in two folders have equal checkpoints. The vocabularies are in the checkpoint themselves.
struct Manifest {
  std::string library{};  // the version of headroom
  std::string machine{};  // what the last bits depend on: see machine_description()
  std::string data{};     // checksum() of the data file; empty without one
  Record settings{};      // config.json without paths
  LogMark log{};          // of metrics.jsonl so far
  template <class Visit>
  static void fields(Visit visit) {
    visit("library", &Manifest::library);
    visit("machine", &Manifest::machine);
    visit("data", &Manifest::data);
    visit("settings", &Manifest::settings);
    visit("log", &Manifest::log);
  }
};

/// The manifest of a run in this folder, which has a config.json, on this machine. `data` is the
/// path of its data file, or empty.
Manifest manifest_of(const RunFolder& folder, const std::filesystem::path& data);

/// Processor, number of processors and BLAS: results on another kind differ in their last bits.
std::string machine_description();
/// "model name (avx2 fma avx512f)"
std::string processor_description();
/// The value after the first "key :" of a file such as /proc/cpuinfo; empty when there is none.
std::string system_value(const char* file, const std::string& key);

/// Whether a run resumes although data, settings or its log changed since the checkpoint.
enum class Changes { refuse, accept };

/// Throws FileError saying what differs between the run in the folder as it is and as its
/// checkpoint was saved, and what to do. A vocabulary (`about`: that of the run) must be the same
/// even if other changes are accepted. Returns warnings for differences that change the last bits
/// only: processor and version. Checks nothing for checkpoints of versions without a manifest.
std::vector<std::string> check_resumable(const RunFolder& folder, const Manifest& now,
                                         const Record& about, const std::filesystem::path& data,
                                         Changes changes);

/// Throws FileError unless the metrics.jsonl of a run that has ended is the one that it wrote, by
/// the mark in its checkpoint. Checks nothing without a checkpoint or a manifest in it.
void check_log(const std::filesystem::path& folder);

/// 16 hexadecimal digits (FNV-1a). Tells accidents apart, not attacks.
std::string checksum(std::string_view bytes);

/// Adds the checksum of every tensor, and of all other texts, to the file's metadata.
void add_checksums(TensorFile& file);
/// Throws FileError naming the first tensor whose bytes are not those that were saved. A file
/// without checksums passes.
void verify_checksums(const TensorFile& file);
inline constexpr const char* checksums_key = "checksums";

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
