// A trained model with its tokenizers.
#include "headroom_runs/runs/open_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom_foreign/folders/folder_texts.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_foreign/tokenizers/open_tokenizer.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

/// A text of `about`, or "".
std::string text_of(const SavedModel& saved, const char* member) {
  const Record& about = saved.about;
  const bool there = about.is_object() && about.contains(member) && about[member].is_string();
  return there ? about[member].get<std::string>() : "";
}

/// The tokenizer of a folder. Throws FileError if texts can have tokens that the model has no
/// embedding for; one for padding alone is allowed.
std::unique_ptr<ForeignTokenizer> tokenizer_for(const fs::path& folder, const ModelConfig& config) {
  std::unique_ptr<ForeignTokenizer> tokenizer = open_tokenizer(folder);
  const bool pairs = config.kind == ModelKind::seq2seq;
  const Index known = pairs ? std::min(config.source_vocabulary, config.target_vocabulary)
                            : config.source_vocabulary;
  Index tokens = tokenizer->size();
  const auto last = std::int32_t(tokens - 1);
  const SpecialIds ids = tokenizer->special_ids();
  const bool pads_only =
      ids.pad == last && ids.mask != last && std::ranges::count(tokenizer->framed({}), last) == 0;
  if (pads_only) --tokens;
  if (tokens <= known) return tokenizer;
  throw FileError(fmt::format("{}: the tokenizer has {} tokens, but the model only {}",
                              folder.string(), tokens, known));
}

void add_tokenizers(SavedModel& saved, const fs::path& folder) {
  const std::shared_ptr<const Tokenizer> tokenizer = tokenizer_for(folder, saved.config);
  for (const char* name : {"source", "target", "tokens"}) saved.tokenizers[name] = tokenizer;
}

}  // namespace

SavedModel open_model(const fs::path& path) {
  if (is_model_folder(path)) {
    const ModelFolder folder = open_model_folder(path);
    SavedModel saved = folder.saved();
    saved.about["folder"] = path.string();
    saved.about["architecture"] = folder.architecture;
    if (saved.config.kind == ModelKind::classifier) {
      saved.about["classes"] = folder_classes(path, saved.config.target_vocabulary);
    }
    add_tokenizers(saved, path);
    return saved;
  }
  SavedModel saved = load_model(checkpoint_of(path));
  const fs::path folder = text_of(saved, "folder");
  if (folder.empty()) return saved;
  if (!fs::is_directory(folder)) {
    throw FileError(fmt::format(
        "{}: was trained from the model folder {}, which is gone; put it there again, because its "
        "tokenizer reads the texts of this model",
        saved.origin, folder.string()));
  }
  add_tokenizers(saved, folder);
  return saved;
}

DecodingLimits limits_of(const SavedModel& saved) {
  const std::string folder = text_of(saved, "folder");
  if (!folder.empty()) return folder_limits(folder, saved.config);
  if (saved.config.kind != ModelKind::seq2seq) return {};
  const Vocabulary target = saved.vocabulary("target");
  return {.begin = target.bos(), .end = target.eos(), .never = target.unk()};
}

bool has_outputs(const SavedModel& saved) {
  return saved.config.kind != ModelKind::encoder && text_of(saved, "architecture") != "GPT2Model";
}

void require_outputs(const SavedModel& saved) {
  if (has_outputs(saved)) return;
  const std::string architecture = text_of(saved, "architecture");
  throw UsageError(fmt::format("{}: a {} has no outputs; attend shows its attention", saved.origin,
                               architecture.empty() ? "text encoder" : architecture),
                   {"model"});
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
