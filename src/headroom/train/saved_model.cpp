// A trained model out of its file alone.
#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

template <class Model>
Model& as(Module& model, const ModelConfig& config, const std::string& origin, ModelKind wanted) {
  if (auto* found = dynamic_cast<Model*>(&model)) return *found;
  throw UsageError(
      fmt::format("{}: the model is a {}, not a {}", origin, name_of(config.kind), name_of(wanted)),
      {"model"});
}

}  // namespace

void check_plausible(const ModelConfig& config, const TensorFile& file, const std::string& origin) {
  double elements = 0;
  for (const std::string& name : file.names()) {
    elements += double(file.tensor(name).shape.size());
  }
  check_plausible(config, elements, origin, file.origin());
}

void check_plausible(const ModelConfig& config, double elements, const std::string& origin,
                     const std::string& tensors) {
  const auto number = [](Index value) { return double(value); };
  const BlockConfig& block = config.block;
  const double width = number(block.width), layers = number(config.layers);
  const double decoder_layers = number(config.variant.decoder_layers),
               decoder_hidden = number(config.variant.decoder_hidden);
  const double heads_width =
      block.head_dim == 0 ? width : number(block.heads) * number(block.head_dim);
  const double spare = 16 * elements + 1e7;  // removed heads and computed tables are not stored
  const bool fits =
      width * number(config.source_vocabulary) <= elements && layers * width <= elements &&
      layers * number(block.hidden) <= elements && width * number(block.hidden) <= elements &&
      decoder_layers * width <= elements && decoder_layers * decoder_hidden <= elements &&
      width * decoder_hidden <= elements &&
      width * number(config.variant.token_types) <= elements &&
      width * number(config.target_vocabulary) <= spare && layers * width * heads_width <= spare &&
      layers * number(block.heads) <= spare / 1e3 && width * number(config.longest) <= spare;
  if (fits) return;
  throw FileError(
      fmt::format("{}: describes a larger model than {} has tensors for", origin, tensors));
}

SavedModel load_model(const std::filesystem::path& path, const std::string& part) {
  const TensorFile file = read_checkpoint(path);
  const StateReader root(file), from = root.part(part);
  if (!from.has("config")) {
    throw FileError(fmt::format("{}: has no model configuration", from.where("config")));
  }
  SavedModel saved;
  saved.origin = path.string();
  saved.about = root.record("about");
  saved.removed = read_removed(from);
  try {
    saved.config = ModelConfig::from_record(from.record("config"));
    check_plausible(saved.config, file, from.where("config"));
    const NoInit quick;  // every number is replaced below
    Rng rng(0, "init");
    saved.model = make_model(saved.config, rng, saved.removed);
  } catch (const UsageError& error) {
    throw FileError(fmt::format("{}: {}", from.where("config"), error.what()));
  } catch (const ShapeError& error) {
    throw FileError(fmt::format("{}: {}", from.where("config"), error.what()));
  }
  ModelState(*saved.model, Rounding::allow).load_state(from);
  saved.model->eval();
  return saved;
}

Seq2Seq& SavedModel::seq2seq() const {
  return as<Seq2Seq>(*model, config, origin, ModelKind::seq2seq);
}

LanguageModel& SavedModel::language_model() const {
  return as<LanguageModel>(*model, config, origin, ModelKind::language_model);
}

Classifier& SavedModel::classifier() const {
  return as<Classifier>(*model, config, origin, ModelKind::classifier);
}

Vocabulary SavedModel::vocabulary(const char* name) const {
  const std::string where = fmt::format("{}: \"about.{}\"", origin, name);
  if (!about.is_object() || !about.contains(name)) {
    throw FileError(where + ": the vocabulary is missing");
  }
  return Vocabulary::from_record(about[name], where);
}

const Tokenizer& SavedModel::tokenizer(const char* name) const {
  std::shared_ptr<const Tokenizer>& found = tokenizers[name];
  if (found == nullptr) found = std::make_shared<Vocabulary>(vocabulary(name));
  return *found;
}

Record task_record(const Seq2SeqTask& task) {
  return {{"name", task.name},
          {"kind", name_of(ModelKind::seq2seq)},
          {"longest_source", task.longest_source()},
          {"longest_target", task.longest_target()},
          {"source", task.source.record()},
          {"target", task.target.record()}};
}

Record task_record(const ClassificationTask& task) {
  return {{"name", task.name},
          {"kind", name_of(ModelKind::classifier)},
          {"longest", task.longest()},
          {"tokens", task.tokens.record()},
          {"classes", task.classes}};
}

Record task_record(const TextCorpus& corpus) {
  return {{"name", corpus.name},
          {"kind", name_of(ModelKind::language_model)},
          {"tokens", corpus.vocabulary.record()}};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
