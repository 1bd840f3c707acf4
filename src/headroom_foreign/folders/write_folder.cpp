// Writes a model folder: the tensors that changed, and everything else as it was.
#include "headroom_foreign/folders/write_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/files.hpp"
#include "headroom/nn/head_share.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/surgery/regrowth.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

/// Files with weights in formats that are not written here; they would be of another model.
bool has_other_weights(const fs::path& file) {
  static const std::set<std::string> endings{".bin",  ".ckpt", ".gguf",        ".h5", ".msgpack",
                                             ".onnx", ".ot",   ".safetensors", ".pt", ".tflite"};
  return endings.contains(file.extension().string());
}

/// Copies a regular file, of any size, by AtomicFile: it is whole or not there, and an error says
/// why.
void copy_whole(const fs::path& from, const fs::path& to) {
  constexpr Index most = 1 << 20;
  InputFile source(from);
  AtomicFile copied(to);
  std::vector<std::byte> part;
  for (Index left = source.size(); left > 0; left -= Index(part.size())) {
    part.resize(std::size_t(std::min(left, most)));
    source.read(part);
    copied.write(part);
  }
  copied.commit();
}

/// The share of a removed head in the dense form: query and key of the source, if it has them.
HeadShare dead_share(const HeadId& head, Module& model, Module* source) {
  const auto alive = source == nullptr ? std::vector<HeadId>() : live_heads(*source);
  const bool known = std::find(alive.begin(), alive.end(), head) != alive.end();
  HeadShare share =
      known ? share_of(attention_at(*source, {head.kind, head.layer}, "export"), head.head)
            : fresh_head(model, head, 0, 0).share;
  for (auto& [part, array] : share.value) {
    const bool of_scores = part.role == HeadRole::query || part.role == HeadRole::query_bias ||
                           part.role == HeadRole::key || part.role == HeadRole::key_bias;
    if (!known || !of_scores) array = zeros(array.shape());
  }
  share.gradient.clear();
  return share;
}

/// A copy of the model with all heads, the removed ones dead.
std::unique_ptr<Module> dense_copy(const ModelFolder& source, Module& model,
                                   const std::vector<HeadId>& removed) {
  const NoInit quick;
  Rng rng(0, "init");
  const Layout layout = attentions(model).front().attention->layout();
  ModelConfig config = source.config;
  config.block.layout = layout;
  std::unique_ptr<Module> copy = make_model(config, rng, removed);
  copy_parameters(model, *copy);
  const std::unique_ptr<Module> before = source.load(layout);
  std::vector<HeadShare> shares;
  for (const HeadId& head : removed) shares.push_back(dead_share(head, *copy, before.get()));
  regrow(*copy, shares);
  return copy;
}

/// The tensor as its file stores it, unless its numbers are those that were read from there.
StoredTensor stored_as(const StoredTensor& before, const Array& numbers) {
  std::vector<Real> read(std::size_t(before.shape.size()));
  read_numbers(before.type, before.bytes, std::span(read), Rounding::allow);
  const bool same = before.shape == numbers.shape() &&
                    std::memcmp(read.data(), numbers.data(), read.size() * sizeof(Real)) == 0;
  if (same) return before;
  StoredTensor after{before.type, numbers.shape(),
                     std::vector<std::byte>(std::size_t(numbers.size() * size_of(before.type)))};
  write_numbers(before.type, numbers.span(), after.bytes);
  return after;
}

/// Writes the tensors of one file of the source. A file without changes is copied.
void write_tensors(const TensorReader& file, const NamedArrays& arrays, const fs::path& to) {
  TensorFile written;
  written.metadata = file.metadata();
  bool changed = false;
  for (const TensorEntry& entry : file.entries()) {
    StoredTensor tensor = file.read(entry);
    if (const auto found = arrays.find(entry.name); found != arrays.end()) {
      StoredTensor after = stored_as(tensor, found->second);
      changed = changed || !(after.shape == tensor.shape) || after.bytes != tensor.bytes;
      tensor = std::move(after);
    }
    written.put(entry.name, std::move(tensor));
  }
  if (changed) {
    written.write(to);
  } else {
    copy_whole(file.origin(), to);
  }
}

/// Writes all tensors of a classifier with a new head into one file. Their names get the prefix of
/// the base model, without which Transformers takes the file for one of the base model alone. Other
/// heads of the source stay behind.
void write_with_new_head(const ModelFolder& source, const NamedArrays& arrays, const fs::path& to) {
  TensorFile written;
  StoredType type = StoredType::f32;
  for (const TensorReader& file : source.tensors.files()) {
    written.metadata = file.metadata();
    for (const TensorEntry& entry : file.entries()) {
      const auto found = arrays.find(entry.name);
      if (found == arrays.end()) continue;
      type = entry.type;
      written.put(source.with_prefix ? entry.name : source.names->prefix + entry.name,
                  stored_as(file.read(entry), found->second));
    }
  }
  for (const auto& [name, array] : arrays) {
    if (!source.is_new(name)) continue;
    StoredTensor tensor{type, array.shape(),
                        std::vector<std::byte>(std::size_t(array.size() * size_of(type)))};
    write_numbers(type, array.span(), tensor.bytes);
    const bool renamed = !source.with_prefix && !name.starts_with("classifier.");
    written.put(renamed ? source.names->prefix + name : name, std::move(tensor));
  }
  written.write(to);
}

/// config.json with these heads in `pruned_heads`.
std::string config_text(const ModelFolder& source, const std::vector<HeadId>& pruned) {
  Record json = source.json;
  json.erase("pruned_heads");
  for (const HeadId& head : pruned) {
    json["pruned_heads"][std::to_string(head.layer)].push_back(head.head);
  }
  const bool same = json == source.json && !source.new_head;
  return same ? read_file(source.path / "config.json") : json.dump(2) + "\n";
}

/// The section of the model's card (README.md) about removed heads.
std::string card(FolderForm form, const std::vector<HeadId>& removed) {
  std::map<AttentionLocation, std::vector<Index>> heads;
  for (const HeadId& head : removed) heads[{head.kind, head.layer}].push_back(head.head);
  std::string text = fmt::format(
      "\n## Removed heads\n\nheadroom removed {} attention heads, numbered from 0 as in the full "
      "model:\n\n",
      removed.size());
  for (const auto& [location, list] : heads) {
    text += "* " + location.text() + ":";
    for (const Index head : list) text += fmt::format(" {}", head);
    text += "\n";
  }
  text += form == FolderForm::dense
              ? "\nThe matrices have the shapes of the full model. W_V, b_V and the part of W_O of "
                "these heads\nare 0, so that they stay removed when the model is trained on.\n"
              : "\nThe matrices have the other heads only, and `pruned_heads` of config.json lists "
                "these. Versions 4\nof Transformers open such a folder; version 5 cannot.\n";
  return text;
}

}  // namespace

std::vector<fs::path> write_model_folder(const ModelFolder& source, Module& model, FolderForm form,
                                         const fs::path& out) {
  const bool compact = form == FolderForm::compact;
  const std::vector<HeadId> removed = removed_heads(model);
  if (compact && source.config.kind == ModelKind::seq2seq && !removed.empty()) {
    throw UsageError(fmt::format("{}: Transformers has no compact form of {}; write the dense one",
                                 source.path.string(), source.architecture));
  }
  const std::unique_ptr<Module> dense =
      compact || removed.empty() ? nullptr : dense_copy(source, model, removed);
  NamedArrays arrays;
  for (auto& [name, array] :
       in_foreign_names(dense ? *dense : model, *source.names, source.with_prefix)) {
    arrays[source.stored_name(name)] = array;
  }

  std::vector<fs::path> files;
  const auto write = [&](const fs::path& name, const auto& writer) {
    const fs::path to = out / name;
    make_folder(to.parent_path());
    writer(to);
    files.push_back(to);
  };
  try {
    if (source.new_head) {
      write("model.safetensors",
            [&](const fs::path& to) { write_with_new_head(source, arrays, to); });
    }
    for (const TensorReader& file : source.tensors.files()) {
      if (source.new_head) break;
      write(fs::path(file.origin()).filename(),
            [&](const fs::path& to) { write_tensors(file, arrays, to); });
    }
    std::string readme;
    for (const auto& entry : fs::recursive_directory_iterator(source.path)) {
      const fs::path name = entry.path().lexically_relative(source.path);
      const bool is_index = source.new_head && name == "model.safetensors.index.json";
      if (!entry.is_regular_file() || name == "config.json" || is_index ||
          has_other_weights(name)) {
        continue;
      }
      if (name == "README.md") {
        readme = read_file(entry.path());
      } else {
        write(name, [&](const fs::path& to) { copy_whole(entry.path(), to); });
      }
    }
    if (!removed.empty()) {
      if (!readme.empty() && !readme.ends_with('\n')) readme += '\n';
      readme += card(form, removed);
    }
    if (!readme.empty()) write("README.md", [&](const fs::path& to) { write_file(to, readme); });
    write("config.json", [&](const fs::path& to) {
      write_file(to, config_text(source, compact ? removed : std::vector<HeadId>()));
    });
  } catch (const fs::filesystem_error& error) {
    throw FileError(
        fmt::format("{}: cannot write: {}",
                    error.path2().empty() ? error.path1().string() : error.path2().string(),
                    error.code().message()));
  }
  return files;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
