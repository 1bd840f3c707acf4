// The tensors of a model folder: model.safetensors, or the shards that an index lists.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "headroom/io/tensor_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A tensor in one of the files of a folder.
struct FolderEntry {
  const TensorReader* file = nullptr;
  const TensorEntry* entry = nullptr;
};

/// The tensors of a model folder as Hugging Face Transformers writes it: in `model.safetensors`, or
/// in shards next to `model.safetensors.index.json`, whose `weight_map` has the file of each
/// tensor. Only headers are read until a tensor is asked for.
class FolderTensors {
 public:
  /// Throws FileError, one line with the remedy: without one of these files (a folder may have only
  /// pytorch_model.bin, which is a program and never read), for a shard that is missing or is not
  /// a plain name of a file, and for a tensor in two shards, in none, or in one that the index does
  /// not list for it.
  explicit FolderTensors(const std::filesystem::path& folder);
  FolderTensors(FolderTensors&&) = default;
  FolderTensors& operator=(FolderTensors&&) = default;

  bool has(const std::string& name) const { return entries_.contains(name); }
  /// Throws FileError naming the folder's file when there is no such tensor.
  const FolderEntry& at(const std::string& name) const;
  /// All tensors by name.
  const std::map<std::string, FolderEntry>& entries() const { return entries_; }
  /// The files in the order of their names.
  const std::vector<TensorReader>& files() const { return files_; }
  /// The numbers of a tensor. From F64, a float build rounds.
  Array array(const std::string& name) const;
  /// "model.safetensors" or the index, with its path, for errors.
  const std::string& origin() const { return origin_; }

 private:
  std::string origin_;
  std::vector<TensorReader> files_;
  std::map<std::string, FolderEntry> entries_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
