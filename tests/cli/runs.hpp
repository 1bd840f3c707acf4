// Training runs of the program, and the files that they write.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

inline Finished headroom_program(std::vector<std::string> arguments,
                                 const TemporaryFolder& folder) {
  arguments.insert(arguments.begin(), HEADROOM_PROGRAM);
  return run_process(arguments, {}, folder.path());
}

inline std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The tensors and texts of a checkpoint, without what it belongs to: settings, log, machine.
inline std::string saved_state(const std::filesystem::path& checkpoint) {
  const std::string bytes = content(checkpoint);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  nlohmann::json header = nlohmann::json::parse(bytes.substr(sizeof length, length));
  for (const char* key : {"manifest", "checksums"}) header["__metadata__"].erase(key);
  return header.dump() + bytes.substr(sizeof length + length);
}

/// The steps of the telemetry lines, each of which has a value for every live head.
inline std::vector<int> steps_with_heads(const std::filesystem::path& metrics) {
  std::vector<int> steps;
  std::ifstream lines(metrics);
  for (std::string text; std::getline(lines, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    if (!line.contains("record") || line["record"] == "lives") continue;
    CHECK(line["record"] == "heads");
    CHECK(line["heads"].size() == line["entropy"].size());
    steps.push_back(line["step"]);
  }
  return steps;
}

/// metrics.jsonl without the times.
inline std::vector<nlohmann::json> measurements(const std::filesystem::path& metrics) {
  std::vector<nlohmann::json> lines;
  std::ifstream in(metrics);
  for (std::string text; std::getline(in, text);) {
    lines.push_back(nlohmann::json::parse(text));
    lines.back().erase("ms");
  }
  return lines;
}

/// A training run that takes a second.
inline std::vector<std::string> small_run(const std::string& out,
                                          std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{
      "train", "--task",  "reverse", "--steps",   "30", "--width",
      "16",    "--heads", "4",       "--batch",   "8",  "--evaluate-every",
      "15",    "--out",   out,       "--threads", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}
