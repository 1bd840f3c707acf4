// Reads the keys of a config.json that decide what a model computes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom/base/head_id.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/nn/models.hpp"
#include "headroom_foreign/folders/model_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The members of a config.json. All functions throw FileError, `file: "key": rule`, for a value of
/// another kind. A key that is absent or null has the given value, as in Transformers.
class ConfigReader {
 public:
  ConfigReader(const Record& json, std::string origin) : json_(&json), origin_(std::move(origin)) {}

  /// A number from 1 to ten million.
  Index size(const char* key, std::optional<Index> otherwise = {}) const;
  /// The id of a token: below `tokens`. Nothing if the key is null.
  std::optional<Index> id(const char* key, Index otherwise, Index tokens) const;
  /// A number in [0, 1], such as a rate of dropout.
  Real rate(const char* key, double otherwise) const;
  /// A small number above 0: the epsilon of a norm.
  Real epsilon(const char* key, double otherwise) const;
  bool flag(const char* key, bool otherwise) const;
  std::string text(const char* key, const std::string& otherwise) const;
  bool has(const char* key) const;
  Activation activation(const char* key, const std::string& otherwise) const;

  /// Throws FileError, saying that the key's value is not computed here, unless it is this one.
  void only(const char* key, bool value) const;
  void only(const char* key, double value) const;  // from 0 to 1
  void only(const char* key, const char* value) const;
  /// Throws FileError unless the width is a multiple of the number of heads.
  void check_heads(Index width, Index heads) const;
  /// `pruned_heads`: {"layer": [heads]}, as heads of attentions of a kind. Throws FileError for
  /// layers and heads that are not there, and for a head given twice.
  std::vector<HeadId> pruned_heads(AttentionKind kind, Index layers, Index heads) const;
  /// `zeroed_heads_key`: ["encoder 0.3", ...]. Throws FileError for heads that the model does not
  /// have, of this kind unless it is an encoder-decoder, and for a head given twice.
  std::vector<HeadId> zeroed_heads(const ModelConfig& config, AttentionKind kind) const;

  const Record& json() const { return *json_; }
  [[noreturn]] void fail(const char* key, const std::string& rule) const;

 private:
  /// nullptr when it is absent or null.
  const Record* find(const char* key) const;

  const Record* json_;
  std::string origin_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
