// The rows of all settings of a run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "runs/setting_rows.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

using namespace setting_rows;

namespace {

std::vector<std::string> names_of_choosers() {
  std::vector<std::string> names;
  for (const ChooserEntry& entry : head_choosers()) names.push_back(entry.info.name);
  return names;
}

std::vector<Setting> model_settings() {
  const auto block = [](auto member) {
    return in(&R::training, &T::model, &ModelConfig::block, member);
  };
  using B = BlockConfig;
  return {
      row("layout", "model.layout", block(&B::layout), "attention layout: " + layout_names()),
      first(with(row("layers", "model.layers", in(&R::training, &T::model, &ModelConfig::layers),
                     "layers per stack (encoder, decoder)", count(1, widest)),
                 {"num_layers", "n_layer"})),
      first(with(row("width", "model.width", block(&B::width),
                     "width of the model, the embedding dimension", count(1, widest)),
                 {"d_model", "n_embd"})),
      first(with(
          row("heads", "model.heads", block(&B::heads), "heads per attention", count(1, widest)),
          {"num_heads", "n_head"})),
      row("head_dim", "model.head_dim", block(&B::head_dim),
          "width of a head (default: width / heads)", count(0, widest)),
      with(row("hidden", "model.hidden", block(&B::hidden),
               "hidden width of the feed-forward layers; 4 x width if only {width} is given",
               count(1, widest)),
           {"d_ff", "dim_feedforward"}),
      row("dropout", "model.dropout", block(&B::dropout),
          "dropout probability, at least 0 and below 1", no_share_below_1),
      row("activation", "model.activation", block(&B::activation),
          "activation of the feed-forward layers: " + names_of<Activation>()),
      row("norm", "model.norm", block(&B::norm), "normalisation: " + names_of<NormKind>()),
      turns_off(row("post_norm", "model.norm_first", block(&B::norm_first),
                    "normalise after each residual connection (default: before)")),
      row("positions", "model.positions", in(&R::training, &T::model, &ModelConfig::positions),
          "position encoding: " + names_of<PositionKind>()),
      only_in_files(row("tied_output", "model.tied_output",
                        in(&R::training, &T::model, &ModelConfig::tied_output),
                        "the output layer is the embedding of the target")),
  };
}

std::vector<Setting> training_settings() {
  const auto rate = [](auto member) { return in(&R::training, &T::rate, member); };
  const auto learner = [](auto member) { return in(&R::training, &T::learner, member); };
  const auto optimizer = [](auto member) { return in(&R::training, &T::optimizer, member); };
  return {
      first(with(row("steps", "training.steps", in(&R::training, &T::steps),
                     "number of training steps", count(1)),
                 {"max_steps"})),
      with(part("epochs", SettingType::number, "",
                "in place of {steps}: passes through the examples for training", not_positive),
           {"num_epochs"}),
      first(with(row("batch", "training.batch_size", learner(&LearnerOptions::batch_size),
                     "examples in a batch", count(1, most_tokens)),
                 {"batch_size"})),
      with(rare(row("accumulate", "training.accumulate", learner(&LearnerOptions::accumulate),
                    "batches whose gradients are added up for one step, one after the other "
                    "(default: 1)",
                    count(1, most_tokens))),
           {"gradient_accumulation_steps"}),
      with(row("length", "training.length", learner(&LearnerOptions::length),
               "tokens (characters) per training window (task text)", count(1, most_tokens)),
           {"block_size"}),
      first(with(
          row("learning_rate", "training.peak_rate", rate(&RateOptions::peak),
              "peak learning rate, above 0; the default is that of adamw, times 50 for sgd, 5 for "
              "lamb and 10 for muon",
              not_positive),
          {"rate", "lr"})),
      row("schedule", "training.schedule", rate(&RateOptions::shape),
          "learning rate schedule: " + names_of<RateShape>()),
      rare(row("schedule_steps", "training.schedule_steps", rate(&RateOptions::steps),
               "steps of the learning rate schedule (default: {steps})", count(1))),
      with(row("warmup", "training.warmup", rate(&RateOptions::warmup),
               "warm-up steps; if only {steps} is given, at most a tenth of it", count(0)),
           {"warmup_steps"}),
      only_in_files(row("final_rate", "training.final_rate", rate(&RateOptions::floor),
                        "learning rate at the end of the schedule", not_from_0)),
      first(rare(called(
          "RUN", row("from", "training.begin_with", in(&R::branch, &BranchSettings::from),
                     "begin with the weights of another run, its vocabulary and, where nothing "
                     "else is given, its settings; heads that it lost stay removed")))),
      rare(row("moments", "training.moments", in(&R::branch, &BranchSettings::moments),
               "moments of the optimizer at the beginning: " + names_of<Moments>() +
                   " (default: keep with {from} if data and optimizer are the same)")),
      rare(only_in_files(row("rate_function", "training.rate_function",
                             in(&R::training, &T::rate_function),
                             "text of the function that gives the learning rate"))),
      rare(row("optimizer", "training.optimizer", optimizer(&OptimizerChoice::kind),
               "optimizer: " + names_of<OptimizerKind>())),
      rare(row("granularity", "training.granularity", optimizer(&OptimizerChoice::granularity),
               "blocks to which lamb and muon apply their rules: " + names_of<Granularity>())),
      rare(called("PART,...",
                  row("freeze", "training.freeze", in(&R::training, &T::parts, &PartRules::freeze),
                      "parts that are not trained: those whose parameters' names contain this "
                      "text, here or in a model folder, such as embeddings"))),
      rare(called("PART=X,...", row("part_rates", "training.part_rates",
                                    in(&R::training, &T::parts, &PartRules::rates),
                                    "factors of the learning rate for parts, such as "
                                    "\"classifier=10,embeddings=0.1\""))),
      row("weight_decay", "training.weight_decay", optimizer(&OptimizerChoice::weight_decay),
          "weight decay, at least 0", not_from_0),
      rare(row("beta1", "training.beta1", optimizer(&OptimizerChoice::beta1),
               "decay of the first moment, at least 0 and below 1 (adamw, lamb)",
               no_share_below_1)),
      row("beta2", "training.beta2", optimizer(&OptimizerChoice::beta2),
          "decay of the second moment, at least 0 and below 1 (adamw, lamb)", no_share_below_1),
      with(row("clip", "training.clip", in(&R::training, &T::clip),
               "maximum gradient norm; 0 turns clipping off", not_from_0),
           {"grad_clip", "max_grad_norm"}),
      row("label_smoothing", "training.label_smoothing", learner(&LearnerOptions::label_smoothing),
          "label smoothing, at least 0 and below 1", no_share_below_1),
      rare(row("init", "training.init", learner(&LearnerOptions::init),
               "number of the draw of initial weights for this seed, from 0 (default: 0)",
               count(0))),
  };
}

std::vector<Setting> removal_settings() {
  using P = PruningRecipe;
  const P usual;
  const auto budget = [](auto member) { return in(&R::pruning, &P::budget, member); };
  return {
      part("prune", SettingType::whole, "", "number of heads to remove while training (default: 0)",
           count(0)),
      first(part("keep", SettingType::whole, "",
                 "in place of {prune}: number of heads to keep in all", count(0))),
      part(
          "remove", SettingType::text, "HEADS",
          "in place of {prune}: heads to remove, in this order, such as \"cross 1.3,decoder 0.0\""),
      removing(part("prune_schedule", SettingType::text, "NAME",
                    fmt::format("schedule of the removal: {} (default: {})",
                                fmt::join(pace_names(), ", "), name_of(usual.pace)))),
      removing(part("prune_from", SettingType::text, "STEP",
                    "first step of the removal, or a share of the steps such as 0.3 (default: "
                    "0.5)")),
      removing(part("prune_to", SettingType::text, "STEP",
                    "last step of the removal, or a share of the steps (default: a quarter of the "
                    "steps later)")),
      removing(part("prune_over", SettingType::whole, "",
                    "in place of {prune_to}: steps from {prune_from} to the last removal")),
      removing(part("prune_rounds", SettingType::whole, "",
                    fmt::format("removals of the schedule iterative, at least 2 (default: {})",
                                usual_rounds))),
      removing(part("metric", SettingType::text, "NAME",
                    fmt::format("metric of `importance` or chooser ({}) that chooses the heads to "
                                "remove (default: {})",
                                fmt::join(names_of_choosers(), ", "), usual.chooser))),
      removing(
          part("rescore", SettingType::text, "NAME",
               fmt::format("when heads are scored: {} (default: {}; with {{regrow}} each_event). "
                           "each_event is before each removal, running uses the gradients of "
                           "training",
                           names_of<Rescoring>(), name_of(usual.rescoring)))),
      removing(row("budget", "", budget(&Budget::over),
                   "where heads compete for removal: " + names_of<BudgetOver>())),
      removing(row("at_least", "", budget(&Budget::at_least),
                   "minimum number of heads left in every attention (default: 0)", count(0))),
      removing(row("at_least_of_kind", "", budget(&Budget::at_least_of_kind),
                   "minimum number of heads left of every kind of attention", count(0))),
      removing(row("compensate", "", in(&R::pruning, &P::compensation),
                   "part of a removed head's output that stays in the output bias: " +
                       names_of<Compensation>())),
      rare(row("without", "training.without", in(&R::branch, &BranchSettings::without),
               "heads to remove before the first step, such as \"cross 1.3,decoder 0.0\"")),
  };
}

std::vector<Setting> regrowth_settings() {
  return {
      removing(part("regrow", SettingType::number, "",
                    "share of the live heads that are swapped for removed heads, from 0 to 1; it "
                    "falls to 0 during training (default: 0, no swaps)",
                    no_share)),
      removing(part("regrow_every", SettingType::whole, "",
                    "steps between two swaps (default: a twentieth of the steps)", count(1))),
      removing(part("regrow_until", SettingType::text, "STEP",
                    "step before which swaps are made, or a share of the steps (default: 0.75)")),
      removing(part("regrow_with", SettingType::text, "NAME",
                    fmt::format("parameters of heads that a swap adds back: {} (default: stash, as "
                                "they were at the removal)",
                                names_of<RegrowWith>()))),
      removing(
          part("gates", SettingType::text, "NAME",
               "method that learns gates from {prune_from} to {prune_to}; the gates choose the "
               "heads to remove")),
      row("drop_head", "", in(&R::pruning, &PruningRecipe::drop_head),
          "probability, below 1, of leaving out a head in a training example; it falls to 0 during "
          "training (default: 0)",
          no_share_below_1),
  };
}

std::vector<Setting> output_settings() {
  const auto branch = [](auto member) { return in(&R::branch, member); };
  return {
      with(row("evaluate_every", "training.evaluate_every", in(&R::training, &T::evaluate_every),
               "steps between evaluations", count(1)),
           {"eval_every", "eval_interval"}),
      rare(row("patience", "training.patience", in(&R::training, &T::patience),
               "end after so many evaluations without a better model (default: 0, no limit)",
               count(0))),
      row("save_every", "training.save_every", in(&R::training, &T::save_every),
          "steps between checkpoints (default: as {evaluate_every})", count(1)),
      row("telemetry", "training.telemetry", in(&R::training, &T::telemetry),
          "steps between measurements of every head; 0 turns them off", count(0)),
      rare(only_in_files(row("evaluated_examples", "training.evaluated_examples",
                             in(&R::training, &T::learner, &LearnerOptions::quick),
                             "examples of an evaluation, at most", count(0)))),
      rare(row("snapshots", "training.snapshots", in(&R::training, &T::snapshots),
               "steps, from 1 to {steps}, after which a copy of the checkpoint is kept, separated "
               "by commas")),
      rare(row("until", "training.until", branch(&BranchSettings::until),
               "end the run after this step; the learning rate schedule still covers all {steps}",
               count(1))),
      rare(called("RUN",
                  row("branch", "training.from", branch(&BranchSettings::branch),
                      "go on at the last step of another run, which must have the same data, model "
                      "and training settings and must not remove heads"))),
      rare(turns_off(row("no_test", "training.test", branch(&BranchSettings::test),
                         "do not measure the test set"))),
      rare(turns_off(row("no_page", "training.page", branch(&BranchSettings::page),
                         "do not write the report"))),
      rare(row("measure_cut", "training.measure_cut", branch(&BranchSettings::measure_cut),
               "also measure the model right after the last removal of heads")),
  };
}

}  // namespace

void setting_values::must_be(const std::string& shown, const char* wanted, const Record& value) {
  throw UsageError(
      fmt::format("{} must be {}, not {}", shown, wanted, printable(value.dump(-1, ' ', true))));
}

std::string title_of(SettingGroup group) {
  switch (group) {
    case SettingGroup::data: return "Task and data";
    case SettingGroup::model: return "Model";
    case SettingGroup::training: return "Training";
    case SettingGroup::removal: return "Heads to remove";
    case SettingGroup::regrowth: return "Regrowth and gates";
    case SettingGroup::output: return "Output";
  }
  return "";
}

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> all = [] {
    std::vector<Setting> made;
    for (const auto& [group, rows] : {std::pair(SettingGroup::data, data_settings()),
                                      {SettingGroup::data, table_settings()},
                                      {SettingGroup::model, model_settings()},
                                      {SettingGroup::training, training_settings()},
                                      {SettingGroup::removal, removal_settings()},
                                      {SettingGroup::regrowth, regrowth_settings()},
                                      {SettingGroup::output, output_settings()}}) {
      for (const Setting& setting : rows) made.emplace_back(setting).group = group;
    }
    return made;
  }();
  return all;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
