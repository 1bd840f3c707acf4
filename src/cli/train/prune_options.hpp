// The options of `headroom train` that remove heads.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "headroom/nn/models.hpp"
#include "headroom_measure/pruning/pruning_recipe.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

class PruneOptions {
 public:
  /// Returns the options that were added.
  std::vector<CLI::Option*> add_to(CLI::App& app);
  /// The recipe for a run of so many steps. Throws UsageError for options that contradict each
  /// other. With learned gates it is complete only after fitted_to().
  PruningRecipe recipe(Index steps) const;
  /// --keep: the number of heads to keep in all. The recipe is then complete after fitted_to(),
  /// too.
  std::optional<Index> keep() const { return keep_; }

 private:
  void require_prune() const;
  Pace pace(Index steps) const;
  Index end_of(Index from, Index steps) const;
  GateOptions gate_options(Index from, Index to) const;
  std::optional<Regrowth> regrowth(Index first, Index steps) const;

  std::optional<std::string> schedule_, from_, to_, metric_, rescore_, budget_, compensate_, gates_,
      remove_, regrow_until_, regrow_with_;
  std::optional<Index> prune_, keep_, over_, rounds_, at_least_, at_least_of_kind_, regrow_every_;
  std::optional<double> drop_head_, regrow_;
  std::vector<CLI::Option*> needing_prune_;
};

/// Completes a recipe for a model that begins without some heads. With `keep` it removes all but so
/// many. Throws UsageError for heads that the model does not have, and if so many cannot be
/// removed, which would otherwise stop the run when the first ones are chosen.
PruningRecipe fitted_to(const ModelConfig& model, const std::vector<HeadId>& without,
                        PruningRecipe recipe, std::optional<Index> keep = {});

/// Throws UsageError, saying where the names are listed, unless this is the name of a metric or a
/// chooser.
void require_metric(const std::string& name);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
