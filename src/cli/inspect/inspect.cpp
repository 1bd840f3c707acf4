// `headroom inspect`: the contents of a checkpoint.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "cli/frame/command.hpp"
#include "cli/frame/streams.hpp"
#include "cli/inspect/inspect_folder.hpp"
#include "cli/options.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/io/checksums.hpp"
#include "headroom/io/stateful.hpp"
#include "headroom/io/tensor_file.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_lab/blocks/table.hpp"
#include "headroom_lab/report/terminal.hpp"
#include "headroom_runs/runs/run_folder.hpp"

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

/// The contents of a checkpoint. It has no `saved` if this program cannot build the model: a
/// program with a layout or a module of its own made it.
struct Contents {
  std::filesystem::path path;
  TensorFile file;
  Record config;  // null without one
  std::optional<SavedModel> saved;
  std::vector<std::pair<std::string, Shape>> parameters;

  Index count() const {
    Index elements = 0;
    for (const auto& [name, shape] : parameters) elements += shape.size();
    return elements;
  }
};

Contents contents_of(const std::filesystem::path& path) {
  Contents contents{path, TensorFile::read(path), {}, {}, {}};
  const StateReader model = StateReader(contents.file).part("model");
  const std::vector<LayoutInfo> layouts = layout_list();
  bool known = false;
  if (model.has("config")) {
    contents.config = model.record("config");
    const Record::json_pointer name("/layout");
    known = !contents.config.contains(name) ||
            std::any_of(layouts.begin(), layouts.end(),
                        [&](const LayoutInfo& info) { return contents.config[name] == info.name; });
  }
  if (known || !contents.file.metadata.contains("format")) {
    contents.saved = load_model(path);
    for (const NamedParameter& parameter : parameters(*contents.saved->model)) {
      contents.parameters.emplace_back(parameter.name, parameter.tensor.shape());
    }
    return contents;
  }
  verify_checksums(contents.file);
  for (const std::string& name : model.tensor_names()) {
    contents.parameters.emplace_back(name, contents.file.tensor("model." + name).shape);
  }
  return contents;
}

Record as_record(const Contents& contents) {
  const auto& [path, file, config, saved, parameters] = contents;
  Record record = {{"file", path.string()}, {"model", config}, {"parameters", contents.count()}};
  if (saved) {
    for (const HeadId& head : saved->removed) record["removed"].push_back(head.text());
  }
  for (const auto& [name, shape] : parameters) {
    record["tensors"].push_back({{"name", name}, {"shape", shape.sizes()}});
  }
  record["not_finite"] = not_finite(file);
  for (const auto& [key, text] : file.metadata) {
    if (key != checksums_key) record["metadata"][key] = text;
  }
  return record;
}

void print_all(const Contents& contents) {
  const TerminalStyle style = TerminalStyle::of(stdout);
  const TensorFile& file = contents.file;
  print_line("file", shown(contents.path.string()), style);
  if (!contents.config.is_null()) print_line("model", shown(flat_text(contents.config)), style);
  if (!contents.saved) {
    print_line("note",
               contents.config.is_null()
                   ? "a program with a model of its own made this file; its tensors follow"
                   : "a program with a layout of its own made this file; its tensors follow",
               style);
  } else {
    for (const auto& [kind, alive] : heads_of(*contents.saved->model)) {
      print_line((std::string(name_of(kind)) + " heads").c_str(), head_grid_text(alive, style),
                 style);
    }
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
  Table table{.columns = {"parameter", "shape", "elements"}};
  for (const auto& [name, shape] : contents.parameters) {
    table.rows.push_back({shown(name), shape.text(), with_commas(shape.size())});
  }
  table.rows.push_back({"all", "", with_commas(contents.count())});
  fmt::print("\n{}", table_text(table, style));
}

}  // namespace

Command add_inspect(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("inspect", "Shows the contents of a checkpoint or a model folder");
  struct Options {
    std::string model;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  app->add_option(
         "--model", options->model,
         "folder of a run, a checkpoint, or a model folder of Transformers (default: the newest "
         "run in runs/, or a sample)")
      ->type_name("PATH");
  app->add_flag("--json", options->json, "print one JSON object");
  app->footer(fmt::format("Example: {} inspect --model runs/demo-1", invocation()));
  return {app, [options] {
            const std::filesystem::path path = any_model_folder(options->model);
            if (is_model_folder(path)) {
              inspect_folder(path, options->json);
              return 0;
            }
            const Contents contents = contents_of(checkpoint_of(path));
            if (options->json) {
              fmt::print("{}\n", as_record(contents).dump());
            } else {
              print_all(contents);
            }
            return 0;
          }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
