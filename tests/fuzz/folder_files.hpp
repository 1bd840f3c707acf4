// The files of a folder that is written for each input: only those that differ from the last one.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "support/temporary_folder.hpp"

class FolderFiles {
 public:
  const std::filesystem::path& path() const { return folder_.path(); }

  void put(const std::string& name, std::string content) {
    const auto [file, is_new] = files_.try_emplace(name);
    if (!is_new && file->second == content) return;
    folder_.file(name, content);
    file->second = std::move(content);
  }

 private:
  TemporaryFolder folder_;
  std::map<std::string, std::string> files_;
};
