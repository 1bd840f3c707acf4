// Manifest: what a checkpoint belongs to, so that a run resumes as the run that it was.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headroom/io/fields.hpp"
#include "headroom/io/tensor_file.hpp"
#include "headroom_runs/runs/metrics_log.hpp"
#include "headroom_runs/runs/run_folder.hpp"

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
  using T = Manifest;
  using Fields = Listed<&T::library, &T::machine, &T::data, &T::settings, &T::log>;
};

/// The manifest of a run in this folder, which has a config.json, on this machine, with the
/// checksum of its data files, one after the other.
Manifest manifest_of(const RunFolder& folder, const std::vector<std::filesystem::path>& data);

/// Throws FileError if a checkpoint was trained with other data than these files have now. Checks
/// nothing for checkpoints without a manifest, such as those of `prune`.
void require_its_data(const TensorFile& checkpoint, const std::vector<std::filesystem::path>& data);

/// Throws FileError if the model folder with which a run began has other weights than then. Both
/// are Learner::about(), saved in the checkpoint and of the folder now.
void require_same_weights(const Record& saved, const Record& now, const std::string& checkpoint);

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

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
