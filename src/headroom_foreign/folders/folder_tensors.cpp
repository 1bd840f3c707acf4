// Opens the one or many files with a folder's tensors.
#include "headroom_foreign/folders/folder_tensors.hpp"

#include <fmt/format.h>

#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

constexpr Index longest_index = 100'000'000;  // bytes
constexpr std::size_t most_shards = 1000;

/// The file of each tensor, by the index.
std::map<std::string, std::string> weight_map(const fs::path& path) {
  const std::string origin = path.string();
  const Record index = parse_json(read_file(path, longest_index), origin, keys_of_vocabulary);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object()) {
    throw FileError(origin + ": weight_map, the file of each tensor, is missing");
  }
  std::map<std::string, std::string> files;
  for (const auto& [name, file] : index["weight_map"].items()) {
    const std::string text = file.is_string() ? file.get<std::string>() : std::string();
    const bool plain = text.ends_with(".safetensors") && text.find('/') == std::string::npos &&
                       text.find('\0') == std::string::npos && text.size() < 200;
    if (!plain) {
      throw FileError(
          fmt::format("{}: weight_map: the file of {} is {}, not the name of a .safetensors file "
                      "in this folder",
                      origin, printable(name), printable(file.dump())));
    }
    files[name] = text;
  }
  return files;
}

[[noreturn]] void without_tensors(const fs::path& folder) {
  const bool has_pickle = fs::exists(folder / "pytorch_model.bin");
  throw FileError(fmt::format(
      "{}: has no model.safetensors{}", folder.string(),
      has_pickle
          ? "; pytorch_model.bin can run any program when it is opened, so it is never read: "
            "write the model again with save_pretrained() of Transformers"
          : " and no model.safetensors.index.json"));
}

}  // namespace

FolderTensors::FolderTensors(const fs::path& folder) {
  const fs::path single = folder / "model.safetensors",
                 index = folder / "model.safetensors.index.json";
  if (fs::exists(single)) {
    origin_ = single.string();
    files_.emplace_back(single);
    for (const TensorEntry& entry : files_.front().entries()) {
      entries_[entry.name] = {&files_.front(), &entry};
    }
    return;
  }
  if (!fs::exists(index)) without_tensors(folder);
  origin_ = index.string();
  const std::map<std::string, std::string> listed = weight_map(index);
  std::set<std::string> shards;
  for (const auto& [name, file] : listed) shards.insert(file);
  if (shards.empty() || shards.size() > most_shards) {
    throw FileError(fmt::format("{}: weight_map: {} files; a folder has 1 to {}", origin_,
                                shards.size(), most_shards));
  }
  files_.reserve(shards.size());  // entries point into it
  for (const std::string& shard : shards) {
    if (fs::exists(folder / shard)) continue;
    throw FileError(fmt::format("{}: weight_map: {} is listed, but the folder has no such file",
                                origin_, shard));
  }
  for (const std::string& shard : shards) {
    const TensorReader& file = files_.emplace_back(folder / shard);
    for (const TensorEntry& entry : file.entries()) {
      const auto expected = listed.find(entry.name);
      if (expected == listed.end() || expected->second != shard) {
        throw FileError(
            fmt::format("{}: tensor \"{}\": is in this shard, but the index lists {}",
                        file.origin(), printable(entry.name),
                        expected == listed.end() ? "no such tensor" : "it in " + expected->second));
      }
      entries_[entry.name] = {&file, &entry};
    }
  }
  for (const auto& [name, file] : listed) {
    if (entries_.contains(name)) continue;
    throw FileError(fmt::format("{}: weight_map: {} is listed in {}, which has no such tensor",
                                origin_, printable(name), file));
  }
}

const FolderEntry& FolderTensors::at(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found != entries_.end()) return found->second;
  throw FileError(fmt::format("{}: tensor \"{}\": is missing", origin_, printable(name)));
}

Array FolderTensors::array(const std::string& name) const {
  const auto& [file, entry] = at(name);
  return file->array(*entry, Rounding::allow);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
