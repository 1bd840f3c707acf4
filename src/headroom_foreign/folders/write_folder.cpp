// Writes a model folder: the tensors that changed, and everything else as it was.
#include "headroom_foreign/folders/write_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "folders/model_card.hpp"
#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/files.hpp"
#include "headroom/io/json.hpp"
#include "headroom/nn/head_share.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/surgery/regrowth.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

/// The folders of the other parts of a model of sentence-transformers, such as "2_Dense", which
/// modules.json lists. Theirs are no other weights of the same model.
std::set<std::string> module_folders(const fs::path& folder) {
  constexpr Index longest = 1'000'000;  // bytes
  std::set<std::string> folders;
  const fs::path file = folder / "modules.json";
  if (!fs::is_regular_file(file)) return folders;
  const Record modules = parse_json(read_file(file, longest), file.string());
  for (const Record& one : modules.is_array() ? modules : Record::array()) {
    const Record text = one.is_object() ? one.value("path", Record()) : Record();
    const fs::path path = text.is_string() ? text.get<std::string>() : "";
    if (!path.empty()) folders.insert(path.begin()->string());  // one is the folder itself
  }
  return folders;
}

/// Files with weights in formats that are not written here; they would be of another model.
bool has_other_weights(const fs::path& file, const std::set<std::string>& modules) {
  static const std::set<std::string> endings{".bin",  ".ckpt", ".gguf",        ".h5", ".msgpack",
                                             ".onnx", ".ot",   ".safetensors", ".pt", ".tflite"};
  const bool of_module = file.has_parent_path() && modules.contains(file.begin()->string());
  return !of_module && endings.contains(file.extension().string());
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
  const std::unique_ptr<Module> before = source.load_with_zeroed(config);
  std::vector<HeadShare> shares;
  for (const HeadId& head : removed) shares.push_back(dead_share(head, *copy, before.get()));
  regrow(*copy, shares);
  return copy;
}

bool is_half(StoredType type) { return type == StoredType::f16 || type == StoredType::bf16; }

/// Whether a stored tensor has these numbers.
bool holds(const StoredTensor& tensor, const Array& numbers) {
  if (!(tensor.shape == numbers.shape())) return false;
  std::vector<Real> read(std::size_t(numbers.size()));
  read_numbers(tensor.type, tensor.bytes, std::span(read), Rounding::allow);
  return std::memcmp(read.data(), numbers.data(), read.size() * sizeof(Real)) == 0;
}

/// Numbers in a type, or in F32 where half precision would round them: an update of training is
/// mostly smaller than the distance of two such numbers, and would be lost.
StoredTensor stored_in(StoredType type, const Array& numbers) {
  StoredTensor tensor{type, numbers.shape(),
                      std::vector<std::byte>(std::size_t(numbers.size() * size_of(type)))};
  write_numbers(type, numbers.span(), tensor.bytes);
  if (is_half(type) && !holds(tensor, numbers)) return stored_in(StoredType::f32, numbers);
  return tensor;
}

/// The parameters that are written into a folder's files.
struct FolderContents {
  NamedArrays arrays;    // by the names in the files
  bool widened = false;  // something is in F32 that was in half precision

  /// The tensor as its file stores it, unless its numbers are those that were read from there.
  StoredTensor stored_as(const StoredTensor& before, const Array& numbers) {
    StoredTensor after = holds(before, numbers) ? before : stored_in(before.type, numbers);
    widened = widened || after.type != before.type;
    return after;
  }
};

/// Adds the second names of parameters in the files, unless the numbers there are others.
void add_second_names(const ModelFolder& source, Module& model, NamedArrays& arrays) {
  for (const auto& [second, name] : second_names(model, *source.names, source.with_prefix)) {
    if (!source.tensors.has(second)) continue;
    const std::string first = source.stored_name(name);
    const auto& [file, entry] = source.tensors.at(second);
    if (is_floating(entry->type) && holds(file->read(*entry), source.tensors.array(first))) {
      arrays[second] = arrays.at(first);
    }
  }
}

/// Writes the tensors of one file of the source. A file without changes is copied.
void write_tensors(const TensorReader& file, FolderContents& all, const fs::path& to) {
  TensorFile written;
  written.metadata = file.metadata();
  bool changed = false;
  for (const TensorEntry& entry : file.entries()) {
    StoredTensor tensor = file.read(entry);
    if (const auto found = all.arrays.find(entry.name); found != all.arrays.end()) {
      StoredTensor after = all.stored_as(tensor, found->second);
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
void write_with_new_head(const ModelFolder& source, FolderContents& all, const fs::path& to) {
  TensorFile written;
  StoredType type = StoredType::f32;
  for (const TensorReader& file : source.tensors.files()) {
    written.metadata = file.metadata();
    for (const TensorEntry& entry : file.entries()) {
      const auto found = all.arrays.find(entry.name);
      if (found == all.arrays.end()) continue;
      type = entry.type;
      written.put(source.with_prefix ? entry.name : source.names->prefix + entry.name,
                  all.stored_as(file.read(entry), found->second));
    }
  }
  for (const auto& [name, array] : all.arrays) {
    if (!source.is_new(name)) continue;
    const bool renamed = !source.with_prefix && !name.starts_with("classifier.");
    StoredTensor tensor = stored_in(type, array);
    all.widened = all.widened || tensor.type != type;
    written.put(renamed ? source.names->prefix + name : name, std::move(tensor));
  }
  written.write(to);
}

/// config.json of the model without these heads.
std::string config_text(const ModelFolder& source, FolderForm form,
                        const std::vector<HeadId>& removed, bool widened) {
  Record json = source.json;
  json.erase("pruned_heads");
  json.erase(zeroed_heads_key);
  for (const HeadId& head : removed) {
    if (form == FolderForm::dense) {
      json[zeroed_heads_key].push_back(head.text());
    } else {
      json["pruned_heads"][std::to_string(head.layer)].push_back(head.head);
    }
  }
  if (widened) {  // a program that loads all in one type, without a key that of the first tensor
    if (json.contains("dtype")) json["dtype"] = "float32";
    if (json.contains("torch_dtype") || !json.contains("dtype")) json["torch_dtype"] = "float32";
  }
  return json.dump(2) + "\n";
}

}  // namespace

void require_form(const ModelFolder& source, Module& model, FolderForm form) {
  if (form == FolderForm::dense) return;
  const auto refuse = [&](const std::string& what) {
    throw UsageError(fmt::format("{}: Transformers has no compact form of {}; write the dense one",
                                 source.path.string(), what));
  };
  if (source.config.kind == ModelKind::seq2seq && !removed_heads(model).empty()) {
    refuse(source.architecture);
  }
  for (const NamedAttention& found : attentions(model)) {
    if (found.attention->alive().empty()) {
      refuse(fmt::format("an attention without heads, such as {}", found.location().text()));
    }
  }
}

std::vector<fs::path> write_model_folder(const ModelFolder& source, Module& model, FolderForm form,
                                         const fs::path& out) {
  const bool compact = form == FolderForm::compact;
  const std::vector<HeadId> removed = removed_heads(model);
  require_form(source, model, form);
  const bool same_form = (compact ? source.zeroed : source.absent()).empty();
  const bool same_heads = same_form && removed == source.removed;
  const std::unique_ptr<Module> dense =
      compact || removed.empty() ? nullptr : dense_copy(source, model, removed);
  FolderContents all;
  for (auto& [name, array] :
       in_foreign_names(dense ? *dense : model, *source.names, source.with_prefix)) {
    all.arrays[source.stored_name(name)] = array;
  }
  add_second_names(source, model, all.arrays);
  const std::set<std::string> modules = module_folders(source.path);

  std::vector<fs::path> files;
  const auto write = [&](const fs::path& name, const auto& writer) {
    const fs::path to = out / name;
    make_folder(to.parent_path());
    writer(to);
    files.push_back(to);
  };
  try {
    if (source.new_head) {
      write("model.safetensors", [&](const fs::path& to) { write_with_new_head(source, all, to); });
    }
    for (const TensorReader& file : source.tensors.files()) {
      if (source.new_head) break;
      write(fs::path(file.origin()).filename(),
            [&](const fs::path& to) { write_tensors(file, all, to); });
    }
    std::string readme;
    for (const auto& entry : fs::recursive_directory_iterator(source.path)) {
      const fs::path name = entry.path().lexically_relative(source.path);
      const bool is_index = source.new_head && name == "model.safetensors.index.json";
      if (!entry.is_regular_file() || name == "config.json" || is_index ||
          has_other_weights(name, modules)) {
        continue;
      }
      if (name == "README.md") {
        readme = read_file(entry.path());
      } else {
        write(name, [&](const fs::path& to) { copy_whole(entry.path(), to); });
      }
    }
    if (!same_heads) readme = card_without(readme, removed, form);
    if (!readme.empty()) write("README.md", [&](const fs::path& to) { write_file(to, readme); });
    write("config.json", [&](const fs::path& to) {
      const bool same = same_heads && !source.new_head && !all.widened;
      write_file(to, same ? read_file(source.path / "config.json")
                          : config_text(source, form, removed, all.widened));
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
