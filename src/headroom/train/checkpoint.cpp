// Checkpoints from parts.
#include "headroom/train/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/io/checksums.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
constexpr const char* format_name = "headroom checkpoint 1";

bool has_part(const TensorFile& file, const std::string& prefix) {
  const auto begins = [&](const std::string& name) { return name.starts_with(prefix); };
  const std::vector<std::string> tensors = file.names();
  return std::any_of(tensors.begin(), tensors.end(), begins) ||
         std::any_of(file.metadata.begin(), file.metadata.end(),
                     [&](const auto& entry) { return begins(entry.first); });
}

}  // namespace

void Checkpoint::add(const std::string& name, Stateful& part) {
  if (std::any_of(parts_.begin(), parts_.end(), [&](const Part& p) { return p.name == name; })) {
    throw UsageError(fmt::format("checkpoint: two parts have the name {}", name));
  }
  parts_.push_back({name, &part});
}

void Checkpoint::add(const std::string& name, Module& model) {
  models_.push_back(std::make_unique<ModelState>(model));
  add(name, *models_.back());
}

void Checkpoint::save(const std::filesystem::path& path, const Record& manifest,
                      const std::string& without) const {
  TensorFile file;
  StateWriter to(file);
  to.text("format", format_name);
  to.record("about", about);
  if (!manifest.is_null()) to.record("manifest", manifest);
  for (const Part& part : parts_)
    if (part.name != without) part.state->save_state(to.part(part.name));
  for (const std::string& name : file.names()) {
    const Index count = count_not_finite(file, name);
    if (count == 0) continue;
    throw NumericError(fmt::format(
        "{}: not saved, because {} of {} values of {} are not finite; the file saved before, if "
        "there is one, is as it was (try a lower learning rate)",
        path.string(), count, file.tensor(name).shape.size(), name));
  }
  add_checksums(file);
  file.write(path);
}

void Checkpoint::load(const std::filesystem::path& path, Absent absent) {
  const TensorFile file = read_checkpoint(path);
  const StateReader from(file);
  if (from.text("format") != format_name) {
    throw FileError(fmt::format("{}: is \"{}\", not \"{}\"", from.where("format"),
                                from.text("format"), format_name));
  }
  about = from.record("about");
  for (const Part& part : parts_) {
    if (absent == Absent::leave && !has_part(file, part.name + ".")) continue;
    part.state->load_state(from.part(part.name));
  }
}

Index count_not_finite(const TensorFile& file, const std::string& name) {
  if (!is_floating(file.tensor(name).type)) return 0;
  const std::vector<double> values = file.doubles(name);
  return std::count_if(values.begin(), values.end(), [](double x) { return !std::isfinite(x); });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
