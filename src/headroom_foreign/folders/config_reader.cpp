// The keys of a config.json, each with its rule.
#include "folders/config_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "headroom/base/error.hpp"
#include "headroom/base/head_list.hpp"
#include "headroom/base/utf8.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index largest_size = 10'000'000;

/// The activations that Transformers knows by these names and we compute.
constexpr std::pair<const char*, Activation> activations[]{
    {"gelu", Activation::gelu},          {"gelu_python", Activation::gelu},
    {"gelu_new", Activation::gelu_tanh}, {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"relu", Activation::relu},          {"silu", Activation::silu},
    {"swish", Activation::silu},         {"tanh", Activation::tanh},
    {"sigmoid", Activation::sigmoid}};

std::string shown(const Record& value) { return printable(value.dump(-1, ' ', true)); }

/// A whole number of text, or nothing.
std::optional<Index> number_in(const std::string& text) {
  Index number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

void ConfigReader::fail(const char* key, const std::string& rule) const {
  throw FileError(fmt::format("{}: \"{}\" {}", origin_, key, rule));
}

const Record* ConfigReader::find(const char* key) const {
  const auto found = json_->find(key);
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

bool ConfigReader::has(const char* key) const { return find(key) != nullptr; }

Index ConfigReader::size(const char* key, std::optional<Index> otherwise) const {
  const Record* value = find(key);
  if (value == nullptr && otherwise) return *otherwise;
  if (value == nullptr) fail(key, "is missing");
  if (!value->is_number_integer() || *value < 1 || *value > largest_size) {
    fail(key,
         fmt::format("must be a whole number from 1 to {}, not {}", largest_size, shown(*value)));
  }
  return value->get<Index>();
}

std::optional<Index> ConfigReader::id(const char* key, Index otherwise, Index tokens) const {
  if (json_->contains(key) && (*json_)[key].is_null()) return std::nullopt;
  const Record value = json_->value(key, Record(otherwise));
  if (!value.is_number_integer() || value < 0 || value >= tokens) {
    fail(key,
         fmt::format("must be the id of a token, from 0 to {}, not {}", tokens - 1, shown(value)));
  }
  return value.get<Index>();
}

Real ConfigReader::rate(const char* key, double otherwise) const {
  const Record* value = find(key);
  if (value == nullptr) return Real(otherwise);
  if (!value->is_number() || !(*value >= 0.0 && *value <= 1.0)) {
    fail(key, fmt::format("must be a number from 0 to 1, not {}", shown(*value)));
  }
  return value->get<Real>();
}

Real ConfigReader::epsilon(const char* key, double otherwise) const {
  const Record* value = find(key);
  if (value == nullptr) return Real(otherwise);
  if (!value->is_number() || !(*value > 0.0 && *value <= 0.1)) {
    fail(key, fmt::format("must be a number above 0 and at most 0.1, not {}", shown(*value)));
  }
  return value->get<Real>();
}

bool ConfigReader::flag(const char* key, bool otherwise) const {
  const Record* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) fail(key, fmt::format("must be true or false, not {}", shown(*value)));
  return value->get<bool>();
}

std::string ConfigReader::text(const char* key, const std::string& otherwise) const {
  const Record* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) fail(key, fmt::format("must be a text, not {}", shown(*value)));
  return value->get<std::string>();
}

Activation ConfigReader::activation(const char* key, const std::string& otherwise) const {
  const std::string name = text(key, otherwise);
  std::string known;
  for (const auto& [theirs, ours] : activations) {
    if (name == theirs) return ours;
    known += (known.empty() ? "" : ", ") + std::string(theirs);
  }
  fail(key,
       fmt::format("is \"{}\", which is not computed here; known are {}", printable(name), known));
}

void ConfigReader::only(const char* key, bool value) const {
  if (flag(key, value) == value) return;
  fail(key, fmt::format("is {}, which is not computed here", !value));
}

void ConfigReader::only(const char* key, double value) const {
  if (double(rate(key, value)) == value) return;
  fail(key, fmt::format("is {}, which is not computed here, only {}", shown(*find(key)), value));
}

void ConfigReader::only(const char* key, const char* value) const {
  const std::string given = text(key, value);
  if (given == value) return;
  fail(key,
       fmt::format("is \"{}\", which is not computed here, only \"{}\"", printable(given), value));
}

void ConfigReader::check_heads(Index width, Index heads) const {
  if (width % heads == 0) return;
  throw FileError(
      fmt::format("{}: a width of {} cannot be divided among {} heads", origin_, width, heads));
}

std::vector<HeadId> ConfigReader::zeroed_heads(const ModelConfig& config,
                                               AttentionKind kind) const {
  std::vector<HeadId> heads;
  const Record* const list = find(zeroed_heads_key);
  if (list == nullptr) return heads;
  if (!list->is_array()) fail(zeroed_heads_key, "must be a list of heads");
  for (const Record& text : *list) {
    std::vector<HeadId> one;
    try {
      one = heads_from(text.is_string() ? text.get<std::string>() : shown(text), "");
    } catch (const UsageError&) {  // refused below, as a head that the model does not have is
    }
    const bool pairs = config.kind == ModelKind::seq2seq;
    const auto has = [&](const HeadId& head) {
      const bool decodes = pairs && head.kind != AttentionKind::encoder_self;
      return (pairs || head.kind == kind) &&
             head.layer < (decodes ? config.variant.decoder_layers : config.layers) &&
             head.head < (decodes ? config.variant.decoder_heads : config.block.heads);
    };
    if (one.size() != 1 || !has(one[0])) {
      fail(zeroed_heads_key, fmt::format("names {}, which is no head of the model", shown(text)));
    }
    if (std::find(heads.begin(), heads.end(), one[0]) != heads.end()) {
      fail(zeroed_heads_key, fmt::format("names {} twice", shown(text)));
    }
    heads.push_back(one[0]);
  }
  std::sort(heads.begin(), heads.end());
  return heads;
}

std::vector<HeadId> ConfigReader::pruned_heads(AttentionKind kind, Index layers,
                                               Index heads) const {
  constexpr const char* key = "pruned_heads";
  std::vector<HeadId> removed;
  const Record* pruned = find(key);
  if (pruned == nullptr) return removed;
  if (!pruned->is_object()) {
    fail(key,
         fmt::format("must be an object of layers with lists of heads, not {}", shown(*pruned)));
  }
  for (const auto& [name, list] : pruned->items()) {
    const std::optional<Index> layer = number_in(name);
    if (!layer || *layer < 0 || *layer >= layers) {
      fail(key, fmt::format("names layer {}; the model has layers 0 to {}", printable(name),
                            layers - 1));
    }
    if (!list.is_array()) fail(key, fmt::format("of layer {} must be a list of heads", *layer));
    for (const Record& head : list) {
      if (!head.is_number_integer() || head < 0 || head >= heads) {
        fail(key, fmt::format("of layer {} names head {}; a layer has heads 0 to {}", *layer,
                              shown(head), heads - 1));
      }
      const HeadId id{kind, *layer, head.get<Index>()};
      if (std::find(removed.begin(), removed.end(), id) != removed.end()) {
        fail(key, fmt::format("names head {} of layer {} twice", id.head, *layer));
      }
      removed.push_back(id);
    }
  }
  std::sort(removed.begin(), removed.end());
  return removed;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
