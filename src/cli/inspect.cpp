// `headroom inspect`: the contents of a checkpoint.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/streams.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/io/tensor_file.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/report/terminal.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom/train/manifest.hpp"
#include "headroom/train/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Tensors and bytes of a part of the file: "model", "optimizer", ...
struct Part {
  Index tensors = 0, bytes = 0;
};

std::map<std::string, Part> parts_of(const TensorFile& file) {
  std::map<std::string, Part> parts;
  for (const std::string& name : file.names()) {
    Part& part = parts[name.substr(0, name.find('.'))];
    ++part.tensors;
    part.bytes += Index(file.tensor(name).bytes.size());
  }
  return parts;
}

/// The number of values that are not finite, for each tensor that has one.
std::map<std::string, Index> not_finite(const TensorFile& file) {
  std::map<std::string, Index> counts;
  for (const std::string& name : file.names()) {
    if (const Index count = count_not_finite(file, name); count > 0) counts[name] = count;
  }
  return counts;
}

/// The live heads, by layer, for each kind of attention.
std::map<AttentionKind, std::vector<std::vector<bool>>> heads_of(Module& model) {
  std::map<AttentionKind, std::vector<std::vector<bool>>> kinds;
  for (const NamedAttention& named : attentions(model)) {
    std::vector<bool> alive(static_cast<std::size_t>(named.attention->config().heads), false);
    for (const Index head : named.attention->alive()) at(alive, head) = true;
    kinds[named.location().kind].push_back(alive);
  }
  return kinds;
}

/// "width 64, heads 4, ...": the record of a configuration on one line, nested ones unfolded.
std::string flat_text(const Record& record) {
  std::string text;
  for (const auto& [key, value] : record.items()) {
    const std::string shown = value.is_object()   ? flat_text(value)
                              : value.is_string() ? key + " " + value.get<std::string>()
                                                  : key + " " + value.dump();
    if (!shown.empty()) text += (text.empty() ? "" : ", ") + shown;
  }
  return text;
}

void print_line(const char* name, const std::string& text, const TerminalStyle& style) {
  fmt::print("{}  {}\n", emphasised(padded(name, 14), Emphasis::faint, style), text);
}

Record as_record(const std::filesystem::path& path, SavedModel& saved, const TensorFile& file) {
  Record record = {{"file", path.string()},
                   {"model", saved.config.to_record()},
                   {"parameters", count_parameters(*saved.model)}};
  for (const HeadId& head : saved.removed) record["removed"].push_back(head.text());
  for (const NamedParameter& parameter : parameters(*saved.model)) {
    Record shape = Record::array();
    for (int axis = 0; axis < parameter.tensor.rank(); ++axis) {
      shape.push_back(parameter.tensor.dim(axis));
    }
    record["tensors"].push_back({{"name", parameter.name}, {"shape", shape}});
  }
  record["not_finite"] = not_finite(file);
  for (const auto& [key, text] : file.metadata) {
    if (key != checksums_key) record["metadata"][key] = text;
  }
  return record;
}

void print_all(const std::filesystem::path& path, SavedModel& saved, const TensorFile& file) {
  const TerminalStyle style = TerminalStyle::of(stdout);
  print_line("file", shown(path.string()), style);
  print_line("model", flat_text(saved.config.to_record()), style);
  for (const auto& [kind, alive] : heads_of(*saved.model)) {
    print_line((std::string(name_of(kind)) + " heads").c_str(), head_grid_text(alive, style),
               style);
  }
  for (const auto& [name, part] : parts_of(file)) {
    print_line(name.c_str(),
               fmt::format("{} tensors, {}", part.tensors, bytes_text(double(part.bytes))), style);
  }
  for (const auto& [key, text] : file.metadata) {
    if (key.ends_with("step") || key.ends_with("steps")) print_line(key.c_str(), text, style);
  }
  for (const auto& [name, count] : not_finite(file)) {
    print_line("not finite",
               fmt::format("{} of {} values of {}", with_commas(count),
                           with_commas(file.tensor(name).shape.size()), name),
               style);
  }
  std::vector<std::vector<std::string>> rows;
  for (const NamedParameter& parameter : parameters(*saved.model)) {
    rows.push_back(
        {parameter.name, parameter.tensor.shape().text(), with_commas(parameter.tensor.size())});
  }
  rows.push_back({"all", "", with_commas(count_parameters(*saved.model))});
  fmt::print("\n{}", table_text({"parameter", "shape", "elements"}, rows, style));
}

}  // namespace

Command add_inspect(CLI::App& program) {
  CLI::App* app = program.add_subcommand("inspect", "Shows the contents of a checkpoint");
  struct Options {
    std::string model;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  app->add_option("--model", options->model,
                  "folder of a run, or a checkpoint (default: the newest run in runs/)")
      ->type_name("PATH");
  app->add_flag("--json", options->json, "print one JSON object");
  app->footer(fmt::format("Example: {} inspect --model runs/demo-1", invocation()));
  return {app, [options] {
            const std::filesystem::path path = checkpoint_of(model_folder(options->model));
            SavedModel saved = load_model(path);
            const TensorFile file = TensorFile::read(path);
            if (options->json) {
              fmt::print("{}\n", as_record(path, saved, file).dump());
            } else {
              print_all(path, saved, file);
            }
            return 0;
          }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
