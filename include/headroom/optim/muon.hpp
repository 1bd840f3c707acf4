// Muon: momentum, orthogonalised before it is applied.
#pragma once

#include "headroom/optim/optimizer.hpp"
#include "headroom/optim/parameter_blocks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The constants of Muon.
struct MuonOptions {
  double momentum = 0.95;
  bool nesterov = true;
  int iterations = 5;                             // of the orthogonalisation
  double weight_decay = 0;                        // decoupled, of all parameters
  Granularity granularity = Granularity::tensor;  // of the blocks that are one matrix each
  /// AdamW, for the parameters that are not orthogonalised. Its learning rate is adam_rate_factor
  /// times that given to step(): a good one is about ten times smaller than Muon's 0.02.
  double adam_rate_factor = 1;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  /// Which parameters are orthogonalised, all of them with two axes; by default those of
  /// hidden_matrices().
  std::function<bool(const NamedParameter&)> orthogonalise = {};
  std::vector<ParameterGroup> groups = {};
};

/// For matrices G of hidden layers, with B the momentum:
///   B = momentum B + G;  D = G + momentum B (Nesterov; else D = B);
///   p *= 1 - rate decay;  p -= rate sqrt(max(1, m / n)) orthogonalised(D) for a block [m, n].
/// The factor, of the blocks that `granularity` says, gives an update's outputs the same size for
/// tall and wide matrices. All other parameters (biases, norms, embeddings, the last layer) follow
/// AdamW. Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks", algorithm
/// 2 and the remarks after it; torch.optim.Muon has the same D up to a factor, which the
/// orthogonalisation removes. Throws UsageError for an option outside its range, or when a
/// parameter that is to be orthogonalised does not have two axes.
class Muon : public Optimizer {
 public:
  explicit Muon(Module& model, MuonOptions options = {});
  std::string title() const override;

 private:
  using Directions = std::map<std::string, Array>;
  void update(std::span<const Moving> parameters) const override;
  void update_block(const ParameterBlock& block,
                    const std::map<std::string, const Moving*>& parameters,
                    const Directions& directions) const;
  MuonOptions options_;
};

/// True for parameters with two axes that are neither an embedding, nor a table of positions, nor
/// the last layer of a model (called output).
std::function<bool(const NamedParameter&)> hidden_matrices(Module& model);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
