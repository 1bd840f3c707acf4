// Checkpoints of earlier versions, in which parameters had other names.
#include <optional>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/io/checksums.hpp"
#include "headroom/io/json.hpp"
#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The stack of a language model, whose heads are those of a decoder.
constexpr std::string_view old_stack = "encoder.", new_stack = "decoder.";

/// An entry of the metadata; null if it is not JSON, which its reader reports.
Record parsed(const std::string& text) {
  try {
    return parse_json(text, "checkpoint");
  } catch (const Error&) {
    return {};
  }
}

bool describes_language_model(const std::string& config) {
  const Record record = parsed(config);
  return record.is_object() && record.contains("kind") &&
         record["kind"] == name_of(ModelKind::language_model);
}

/// The present name of a parameter, or of one of its moments ("NAME.first"); none if it has no
/// other.
std::optional<std::string> renamed(const std::set<std::string>& old, const std::string& name) {
  if (!old.contains(name) && !old.contains(name.substr(0, name.rfind('.')))) return std::nullopt;
  return std::string(new_stack) + name.substr(old_stack.size());
}

/// Renames the parameters of the part `prefix` of a file, which is a language model, and those of
/// the parts without a configuration: optimizers.
void rename_stack(TensorFile& file, const std::string& prefix) {
  std::set<std::string> old;
  for (const std::string& name : file.names()) {
    if (name.starts_with(prefix + std::string(old_stack))) old.insert(name.substr(prefix.size()));
  }
  if (old.empty()) return;
  for (const std::string& name : file.names()) {
    const std::size_t dot = name.find('.') + 1;
    const std::string part = name.substr(0, dot);
    if (part != prefix && file.metadata.contains(part + "config")) continue;
    const auto now = renamed(old, name.substr(dot));
    if (now && !file.has(part + *now)) file.rename(name, part + *now);
  }
  for (auto& [key, text] : file.metadata) {
    if (!key.ends_with(".axes")) continue;
    const Record axes = parsed(text);
    if (!axes.is_object()) continue;
    Record now = Record::object();
    for (const auto& [name, axis] : axes.items()) now[renamed(old, name).value_or(name)] = axis;
    text = now.dump();
  }
}

}  // namespace

TensorFile read_checkpoint(const std::filesystem::path& path) {
  TensorFile file = TensorFile::read(path);
  verify_checksums(file);
  const std::map<std::string, std::string> texts = file.metadata;
  constexpr std::string_view ending = "config";
  for (const auto& [key, text] : texts) {
    if (key.ends_with(".config") && describes_language_model(text)) {
      rename_stack(file, key.substr(0, key.size() - ending.size()));
    }
  }
  return file;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
