// Opens a model folder, and makes the model of it.
#include "headroom_foreign/folders/model_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "folders/architecture.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/nn/head_share.hpp"
#include "headroom/nn/init.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

constexpr Index longest_config = 10'000'000;  // bytes

const std::vector<Architecture>& all_architectures() {
  static const std::vector<Architecture> all = [] {
    std::vector<Architecture> list;
    for (const auto& family :
         {bert_architectures(), gpt2_architectures(), marian_architectures()}) {
      list.insert(list.end(), family.begin(), family.end());
    }
    return list;
  }();
  return all;
}

const Architecture* find_architecture(const std::string& name) {
  const auto& all = all_architectures();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Architecture& a) { return name == a.name; });
  return found == all.end() ? nullptr : &*found;
}

std::string known_architectures() {
  std::string names;
  for (const Architecture& known : all_architectures()) {
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  return names;
}

/// The architecture that config.json names, or the base model of its model_type; if given, `as`.
const Architecture& architecture_of(const ConfigReader& reader, const std::string& as) {
  const Record& json = reader.json();
  const std::string type = reader.text("model_type", "");
  std::vector<std::string> names;
  if (json.contains("architectures") && json["architectures"].is_array()) {
    for (const Record& name : json["architectures"]) {
      if (name.is_string()) names.push_back(name.get<std::string>());
    }
  }
  if (!as.empty()) names = {as};
  if (names.empty()) {
    for (const Architecture& known : all_architectures()) {
      if (type == known.model_type) return known;
    }
    std::vector<std::string> types;
    for (const Architecture& known : all_architectures()) types.emplace_back(known.model_type);
    reader.fail("model_type", fmt::format("is \"{}\"; models of bert, gpt2 and marian are read{}",
                                          printable(type), did_you_mean(type, types)));
  }
  const Architecture* found = find_architecture(names.front());
  if (found == nullptr) {
    std::vector<std::string> known;
    for (const Architecture& each : all_architectures()) known.emplace_back(each.name);
    reader.fail("architectures",
                fmt::format("names {}, which is not read; known are {}{}", printable(names.front()),
                            known_architectures(), did_you_mean(names.front(), known)));
  }
  if (type != found->model_type) {
    reader.fail("model_type", fmt::format("is \"{}\", but {} is a model of \"{}\"", printable(type),
                                          found->name, found->model_type));
  }
  return *found;
}

/// Throws FileError unless the tensors are those of the model, in their shapes.
void check_tensors(const ModelFolder& folder, Module& model) {
  std::set<std::string> used;
  for (const auto& [name, shape] : foreign_shapes(model, *folder.names, folder.with_prefix)) {
    const std::string stored = folder.stored_name(name);
    if (folder.is_new(stored)) continue;
    const auto& [file, entry] = folder.tensors.at(stored);
    if (!(entry->shape == shape)) {
      throw FileError(fmt::format("{}: tensor \"{}\": is {}, but config.json needs {}",
                                  file->origin(), stored, entry->shape.text(), shape.text()));
    }
    if (!is_floating(entry->type)) {
      throw FileError(fmt::format("{}: tensor \"{}\": is {}; quantised weights are not read",
                                  file->origin(), stored, name_of(entry->type)));
    }
    used.insert(stored);
  }
  const auto second = second_names(model, *folder.names, folder.with_prefix);
  for (const auto& [name, where] : folder.tensors.entries()) {
    const bool ignored = std::any_of(
        folder.names->ignored.begin(), folder.names->ignored.end(),
        [&, &name = name](const char* part) { return name.find(part) != std::string::npos; });
    const bool of_head = (folder.base_only || folder.new_head) && folder.with_prefix &&
                         !name.starts_with(folder.names->prefix);
    if (used.contains(name) || ignored || of_head || second.contains(name)) continue;
    throw FileError(
        fmt::format("{}: tensor \"{}\": the model that config.json describes has no "
                    "such parameter",
                    where.file->origin(), printable(name)));
  }
}

std::function<void(const std::string& line)>& warning_hearer() {
  static std::function<void(const std::string& line)> hearer;
  return hearer;
}

/// Collects the tensors with values that are NaN or infinite, and warns of them.
class NotFinite {
 public:
  void look_at(const FolderTensors& tensors, const std::string& name, const Array& values) {
    const Index count = std::count_if(values.span().begin(), values.span().end(),
                                      [](Real x) { return !std::isfinite(x); });
    if (count == 0) return;
    if (++tensors_ > 1) return;
    line_ = fmt::format("{}: tensor \"{}\": {} of {} values {} NaN or infinite",
                        tensors.at(name).file->origin(), name, count, values.size(),
                        count == 1 ? "is" : "are");
  }

  void warn() const {
    if (tensors_ == 0 || !warning_hearer()) return;
    const Index others = tensors_ - 1;
    warning_hearer()(others == 0 ? line_
                                 : fmt::format("{}, and values of {} other tensor{}", line_, others,
                                               others == 1 ? "" : "s"));
  }

 private:
  Index tensors_ = 0;
  std::string line_;  // about the first
};

/// Throws FileError for a model that is much larger than the tensors: a small folder must not make
/// us build it, only to find that its tensors are missing.
void check_size(const ModelFolder& folder, const std::string& origin) {
  const ModelConfig& config = folder.config;
  const ModelVariant& variant = config.variant;
  double elements = 0;
  for (const auto& [name, where] : folder.tensors.entries()) {
    elements += double(where.entry->shape.size());
  }
  check_plausible(config, elements, origin, folder.tensors.origin());
  const Index decoders = variant.decoder_layers;
  const double width = double(config.block.width), head_width = width / double(config.block.heads);
  const double attentions = 4 * width * width * double(config.layers + 2 * decoders) -
                            4 * width * head_width * double(folder.absent().size());
  // The margin lets a small mistake get a better message. It is smaller for heads and positions,
  // because building a head takes 0.1 ms, however small it is, and sinusoids take long to compute.
  const auto within = [&](double wanted, double margin) { return wanted <= 4 * elements + margin; };
  const bool fits = within(attentions, 2e4) && within(width * double(config.longest), 3e5) &&
                    within(width * double(config.target_vocabulary), 1e6) &&
                    8 * (config.layers + decoders) <= 100 + std::ssize(folder.tensors.entries());
  if (fits) return;
  throw FileError(fmt::format("{}: describes a larger model than {} has tensors for", origin,
                              folder.tensors.origin()));
}

/// Throws FileError unless a head can have no output.
void require_zeros(const ModelFolder& folder, Module& model, const HeadId& head) {
  const HeadShare share = share_of(attention_at(model, {head.kind, head.layer}, "load"), head.head);
  for (const auto& [part, array] : share.value) {
    const bool is_value = part.role == HeadRole::value || part.role == HeadRole::value_bias;
    const bool zero = std::ranges::all_of(array.span(), [](Real x) { return x == 0; });
    if (zero || !(is_value || part.role == HeadRole::output)) continue;
    throw FileError(fmt::format("{}: \"{}\" names {}, but its weights are not 0; delete it there",
                                (folder.path / "config.json").string(), zeroed_heads_key,
                                head.text()));
  }
}

/// A parameter of a new head, as Transformers draws it.
Array drawn_parameter(const std::string& name, const Shape& shape, std::uint64_t seed) {
  Array values = zeros(shape);
  Rng rng(seed, name);
  if (shape.rank() < 2) return values;
  for (Index i = 0; i < values.size(); ++i) values[i] = Real(0.02) * rng.normal();
  return values;
}

}  // namespace

bool has_prefix(const FolderTensors& tensors, const NameTable& names) {
  const auto& all = tensors.entries();
  const auto first = all.lower_bound(names.prefix);
  return *names.prefix != '\0' && first != all.end() && first->first.starts_with(names.prefix);
}

bool is_model_folder(const fs::path& path) {
  const fs::path config = path / "config.json";
  if (!fs::is_regular_file(config)) return false;
  try {
    const Record json = parse_json(read_file(config, longest_config), config.string());
    return json.is_object() && (json.contains("model_type") || json.contains("architectures"));
  } catch (const FileError&) {
    return false;
  }
}

ModelFolder open_model_folder(const fs::path& path, const std::string& as) {
  const std::string origin = (path / "config.json").string();
  Record json = parse_json(read_file(origin, longest_config), origin);
  if (!json.is_object()) throw FileError(origin + ": is not an object");
  ModelFolder folder{.path = path,
                     .json = std::move(json),
                     .architecture = {},
                     .tensors = FolderTensors(path),
                     .config = {},
                     .removed = {},
                     .zeroed = {}};
  const ConfigReader reader(folder.json, origin);
  if (reader.has("quantization_config")) {
    reader.fail("quantization_config", "is there; quantised weights are not read");
  }
  const Architecture& architecture = architecture_of(reader, as);
  folder.architecture = architecture.name;
  folder.base_only = architecture.is_base;
  folder.config = architecture.config(reader, folder.tensors);
  folder.removed =
      reader.pruned_heads(architecture.heads, folder.config.layers, folder.config.block.heads);
  // Transformers 4 may have pruned a head that is listed as zeros.
  std::ranges::set_difference(reader.zeroed_heads(folder.config, architecture.heads),
                              folder.removed, std::back_inserter(folder.zeroed));
  folder.removed.insert(folder.removed.end(), folder.zeroed.begin(), folder.zeroed.end());
  std::sort(folder.removed.begin(), folder.removed.end());
  folder.names = &architecture.names(folder.config);
  folder.with_prefix = has_prefix(folder.tensors, *folder.names);
  check_size(folder, origin);
  return folder;
}

std::string ModelFolder::stored_name(const std::string& name) const {
  if (tensors.has(name)) return name;
  for (const auto& [now, then] : {std::pair(".weight", ".gamma"), std::pair(".bias", ".beta")}) {
    if (!name.ends_with(std::string("LayerNorm") + now)) continue;
    const std::string old = name.substr(0, name.size() - std::string_view(now).size()) + then;
    if (tensors.has(old)) return old;
  }
  return name;
}

std::unique_ptr<Module> ModelFolder::load(Layout layout) const {
  ModelConfig wanted = config;
  wanted.block.layout = layout;
  return load(wanted);
}

bool ModelFolder::is_new(const std::string& name) const {
  const std::size_t prefix =
      with_prefix && name.starts_with(names->prefix) ? std::string_view(names->prefix).size() : 0;
  const bool of_head = name.starts_with("classifier.") || name.compare(prefix, 7, "pooler.") == 0;
  return new_head && of_head && !tensors.has(name);
}

std::vector<HeadId> ModelFolder::absent() const {
  std::vector<HeadId> heads;
  std::ranges::set_difference(removed, zeroed, std::back_inserter(heads));
  return heads;
}

std::unique_ptr<Module> ModelFolder::load(const ModelConfig& wanted, std::uint64_t seed) const {
  std::unique_ptr<Module> model = load_with_zeroed(wanted, seed);
  for (const HeadId& head : zeroed) require_zeros(*this, *model, head);
  prune(*model, zeroed);
  return model;
}

std::unique_ptr<Module> ModelFolder::load_with_zeroed(const ModelConfig& wanted,
                                                      std::uint64_t seed) const {
  const NoInit quick;  // every number is replaced below
  Rng rng(0, "init");
  std::unique_ptr<Module> model = make_model(wanted, rng, absent());
  check_tensors(*this, *model);
  NotFinite not_finite;
  const std::map<std::string, Shape> shapes = foreign_shapes(*model, *names, with_prefix);
  read_foreign_names(*model, *names, with_prefix, [&](const std::string& name) {
    const std::string stored = stored_name(name);
    if (is_new(stored)) return drawn_parameter(name, shapes.at(name), seed);
    Array values = tensors.array(stored);
    not_finite.look_at(tensors, stored, values);
    return values;
  });
  not_finite.warn();
  model->eval();
  return model;
}

void on_folder_warning(std::function<void(const std::string& line)> hear) {
  warning_hearer() = std::move(hear);
}

SavedModel ModelFolder::saved(Layout layout) const {
  SavedModel saved;
  saved.model = load(layout);
  saved.config = config;
  saved.config.block.layout = layout;
  saved.removed = removed;
  saved.about = {{"name", path.filename().string()}, {"kind", name_of(config.kind)}};
  saved.origin = path.string();
  return saved;
}

ModelFolder with_new_classifier(ModelFolder folder, const std::vector<std::string>& classes) {
  if (folder.architecture != "BertModel" || classes.size() < 2) {
    throw UsageError(fmt::format("{}: a classifier needs a BERT and two classes, not a {} and {}",
                                 folder.path.string(), folder.architecture, classes.size()));
  }
  const Architecture& classifier = *find_architecture("BertForSequenceClassification");
  folder.architecture = classifier.name;
  folder.base_only = false;
  folder.new_head = true;
  folder.config.kind = ModelKind::classifier;
  folder.config.target_vocabulary = std::ssize(classes);
  folder.config.variant.pooling = Pooling::first;
  folder.config.variant.output_dropout =
      ConfigReader(folder.json, (folder.path / "config.json").string())
          .rate("classifier_dropout", double(folder.config.block.dropout));
  folder.names = &classifier.names(folder.config);
  folder.json["architectures"] = {classifier.name};
  folder.json["id2label"] = folder.json["label2id"] = Record::object();
  folder.json.erase("num_labels");
  folder.json.erase("problem_type");
  for (std::size_t i = 0; i < classes.size(); ++i) {
    folder.json["id2label"][std::to_string(i)] = classes[i];
    folder.json["label2id"][classes[i]] = i;
  }
  return folder;
}

const NameTable& names_of_architecture(const std::string& architecture, const ModelConfig& config) {
  const Architecture* found = find_architecture(architecture);
  if (found != nullptr) return found->names(config);
  throw UsageError(
      fmt::format("{}: no such architecture; known are {}", architecture, known_architectures()));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
