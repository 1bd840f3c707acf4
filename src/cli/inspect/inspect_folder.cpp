// The contents of a model folder, from its configuration and the headers of its tensors.
#include "cli/inspect/inspect_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cli/frame/streams.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_lab/blocks/table.hpp"
#include "headroom_lab/report/terminal.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The attentions of one kind that the configuration describes: heads of each layer, alive or not.
struct KindOfHeads {
  AttentionKind kind;
  std::vector<std::vector<bool>> alive;
};

std::vector<KindOfHeads> heads_of(const ModelFolder& folder) {
  const ModelConfig& config = folder.config;
  const auto full = [](Index layers, Index heads) {
    return std::vector(std::size_t(layers), std::vector<bool>(std::size_t(heads), true));
  };
  const auto first = full(config.layers, config.block.heads);
  std::vector<KindOfHeads> kinds;
  if (config.kind == ModelKind::seq2seq) {
    const auto second = full(config.variant.decoder_layers, config.variant.decoder_heads);
    kinds = {{AttentionKind::encoder_self, first},
             {AttentionKind::decoder_self, second},
             {AttentionKind::cross, second}};
  } else {
    kinds = {{config.kind == ModelKind::language_model ? AttentionKind::decoder_self
                                                       : AttentionKind::encoder_self,
              first}};
  }
  for (const HeadId& head : folder.removed) {
    for (KindOfHeads& of : kinds) {
      if (of.kind == head.kind) at(at(of.alive, head.layer), head.head) = false;
    }
  }
  return kinds;
}

/// Elements of each type, by its name.
std::map<std::string, Index> types_of(const ModelFolder& folder) {
  std::map<std::string, Index> types;
  for (const auto& [name, where] : folder.tensors.entries()) {
    types[name_of(where.entry->type)] += where.entry->shape.size();
  }
  return types;
}

/// The files of a tokenizer that the folder has.
std::vector<std::string> tokenizer_files(const ModelFolder& folder) {
  std::vector<std::string> found;
  for (const char* name :
       {"tokenizer.json", "vocab.txt", "vocab.json", "merges.txt", "source.spm", "target.spm"}) {
    if (std::filesystem::exists(folder.path / name)) found.emplace_back(name);
  }
  return found;
}

Index count_alive(const KindOfHeads& of) {
  Index count = 0;
  for (const auto& layer : of.alive) count += std::count(layer.begin(), layer.end(), true);
  return count;
}

Record as_record(const ModelFolder& folder) {
  Record record{{"folder", folder.path.string()},       {"architecture", folder.architecture},
                {"model", folder.config.to_record()},   {"types", types_of(folder)},
                {"tokenizer", tokenizer_files(folder)}, {"removed", Record::array()}};
  for (const HeadId& head : folder.removed) record["removed"].push_back(head.text());
  for (const auto& [name, where] : folder.tensors.entries()) {
    record["tensors"].push_back({{"name", name},
                                 {"type", name_of(where.entry->type)},
                                 {"shape", where.entry->shape.sizes()}});
  }
  return record;
}

void print_line(const std::string& name, const std::string& text, const TerminalStyle& style) {
  fmt::print("{}  {}\n", emphasised(padded(name, 14), Emphasis::faint, style), text);
}

void print_heads(const KindOfHeads& of, const TerminalStyle& style) {
  Index all = 0;
  for (const auto& layer : of.alive) all += std::ssize(layer);
  print_line(std::string(name_of(of.kind)) + " heads",
             fmt::format("{} of {} alive: {} layers of {}", count_alive(of), all, of.alive.size(),
                         of.alive.empty() ? 0 : of.alive.front().size()),
             style);
  for (std::size_t layer = 0; layer < of.alive.size(); ++layer) {
    print_line(fmt::format("  layer {}", layer), head_grid_text({of.alive[layer]}, style), style);
  }
}

}  // namespace

void inspect_folder(const std::filesystem::path& path, bool json) {
  const ModelFolder folder = open_model_folder(path);
  if (json) {
    fmt::print("{}\n", as_record(folder).dump());
    return;
  }
  const TerminalStyle style = TerminalStyle::of(stdout);
  const ModelConfig& config = folder.config;
  print_line("folder", shown(path.string()), style);
  print_line("architecture", folder.architecture + " of Transformers", style);
  print_line("model",
             fmt::format("width {}, feed-forward {}, {}, {} tokens, at most {} positions",
                         config.block.width, config.block.hidden, name_of(config.block.activation),
                         with_commas(config.source_vocabulary), with_commas(config.longest)),
             style);
  for (const KindOfHeads& of : heads_of(folder)) print_heads(of, style);
  const std::vector<std::string> files = tokenizer_files(folder);
  print_line("tokenizer",
             files.empty() ? "no files of one" : fmt::format("{}", fmt::join(files, ", ")), style);
  Index elements = 0;
  for (const auto& [type, count] : types_of(folder)) {
    elements += count;
    print_line(type, with_commas(count) + " numbers", style);
  }
  Table table{.columns = {"tensor", "type", "shape", "elements"}};
  for (const auto& [name, where] : folder.tensors.entries()) {
    table.rows.push_back({shown(name), name_of(where.entry->type), where.entry->shape.text(),
                          with_commas(where.entry->shape.size())});
  }
  table.rows.push_back({"all", "", "", with_commas(elements)});
  fmt::print("\n{}", table_text(table, style));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
