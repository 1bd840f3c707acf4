// Begin and end of outputs, and names of classes, from the JSON of a folder.
#include "headroom_foreign/folders/folder_texts.hpp"

#include <fmt/format.h>

#include "folders/config_reader.hpp"
#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

constexpr Index longest_json = 10'000'000;  // bytes

/// An object of a folder; an empty one if there is no such file.
Record json_in(const fs::path& file) {
  if (!fs::is_regular_file(file)) return Record::object();
  Record json = parse_json(read_file(file, longest_json), file.string());
  if (!json.is_object()) throw FileError(file.string() + ": is not an object");
  return json;
}

}  // namespace

DecodingLimits folder_limits(const fs::path& folder, const ModelConfig& config) {
  const fs::path files[] = {folder / "generation_config.json", folder / "config.json"};
  const Record json[] = {json_in(files[0]), json_in(files[1])};
  const Index tokens = config.target_vocabulary;
  const auto id = [&](const char* key, Index otherwise) {
    for (std::size_t i = 0; i < std::size(files); ++i) {
      if (!json[i].contains(key)) continue;
      const auto found = ConfigReader(json[i], files[i].string()).id(key, otherwise, tokens);
      return std::int32_t(found.value_or(-1));
    }
    return std::int32_t(otherwise < tokens ? otherwise : -1);
  };
  if (config.kind != ModelKind::seq2seq) return {.end = id("eos_token_id", 50256)};
  const DecodingLimits limits{.begin = id("decoder_start_token_id", 58100),
                              .end = id("eos_token_id", 0),
                              .never = id("pad_token_id", 58100)};
  if (limits.begin >= 0) return limits;
  throw FileError(fmt::format("{}: \"decoder_start_token_id\" is missing", files[1].string()));
}

std::vector<std::string> folder_classes(const fs::path& folder, Index classes) {
  const fs::path file = folder / "config.json";
  const Record json = json_in(file);
  if (classes > 1 && json.value("problem_type", Record()) == "regression") {
    throw FileError(
        fmt::format("{}: \"problem_type\" is \"regression\": the {} outputs are numbers, "
                    "not classes",
                    file.string(), classes));
  }
  std::vector<std::string> names;
  for (Index i = 0; i < classes; ++i) {
    const Record::json_pointer place(fmt::format("/id2label/{}", i));
    names.push_back(fmt::format("LABEL_{}", i));
    if (!json.contains("id2label") || !json["id2label"].is_object() || !json.contains(place)) {
      continue;
    }
    if (!json[place].is_string()) {
      throw FileError(fmt::format("{}: \"id2label\": the name of {} is no text", file.string(), i));
    }
    names.back() = json[place].get<std::string>();
  }
  return names;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
