// Muon: momentum element by element, orthogonalisation block by block, AdamW for the rest.
#include "headroom/optim/muon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/layers.hpp"
#include "headroom/optim/orthogonalise.hpp"
#include "kernels/adam.hpp"
#include "optim/option_checks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Calls visit(element of the parameter, element of the block's matrix [rows, columns]) for a part
/// that begins at `offset` of the block.
template <class Visit>
void for_each_element(const BlockPart& part, const Shape& shape, Index offset, Index columns,
                      Visit visit) {
  const Index rows = part.axis == 0 ? part.end - part.begin : shape[0];
  const Index width = part.axis == 0 ? shape[1] : part.end - part.begin;
  const Index row_before = part.axis == 0 ? part.begin : 0, column_before = part.begin - row_before;
  const Index row_offset = part.axis == 0 ? offset : 0, column_offset = offset - row_offset;
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < width; ++column) {
      visit((row_before + row) * shape[1] + column_before + column,
            (row_offset + row) * columns + column_offset + column);
    }
  }
}

}  // namespace

std::function<bool(const NamedParameter&)> hidden_matrices(Module& model) {
  std::set<std::string> others{"output.weight"};
  for (const auto& [name, module] : modules(model)) {
    if (dynamic_cast<Embedding*>(module) != nullptr ||
        dynamic_cast<Positions*>(module) != nullptr) {
      others.insert(name.empty() ? "weight" : name + ".weight");
    }
  }
  return [others](const NamedParameter& parameter) {
    return parameter.tensor.rank() == 2 && !others.contains(parameter.name);
  };
}

Muon::Muon(Module& model, MuonOptions options)
    : Optimizer(
          model,
          [orthogonalise = options.orthogonalise ? options.orthogonalise : hidden_matrices(model)](
              const NamedParameter& parameter) {
            const bool matrix = orthogonalise(parameter);
            if (matrix && parameter.tensor.rank() != 2) {
              throw UsageError(fmt::format("muon: {} of shape {} is not a matrix", parameter.name,
                                           parameter.tensor.shape().text()));
            }
            return Keeps{.first = true, .second = !matrix};
          },
          options.weight_decay, options.groups),
      options_(std::move(options)) {
  check_fraction("muon", "momentum", options_.momentum);
  check_fraction("muon", "beta1", options_.beta1);
  check_fraction("muon", "beta2", options_.beta2);
  check_not_negative("muon", "epsilon", options_.epsilon);
  check_not_negative("muon", "weight decay", options_.weight_decay);
  check_not_negative("muon", "the rate factor of adam", options_.adam_rate_factor);
  if (options_.iterations < 0) {
    throw UsageError(fmt::format("muon: {} iterations", options_.iterations));
  }
}

std::string Muon::title() const {
  return fmt::format(
      "muon: momentum {}{}, {} iterations, weight decay {}, per {}; adamw: rate times {}, beta1 "
      "{}, beta2 {}, epsilon {}",
      options_.momentum, options_.nesterov ? " (Nesterov)" : "", options_.iterations,
      options_.weight_decay, name_of(options_.granularity), options_.adam_rate_factor,
      options_.beta1, options_.beta2, options_.epsilon);
}

void Muon::update(std::span<const Moving> parameters) const {
  std::map<std::string, const Moving*> matrices;
  Directions directions;
  for (const Moving& p : parameters) {
    if (p.second != nullptr) {  // not orthogonalised
      for (const Run& run : p.runs) {
        adam(adam_step(p.rate * options_.adam_rate_factor, options_.beta1, options_.beta2,
                       options_.epsilon, p.weight_decay, true, run.step),
             run.size, p.value + run.begin, p.gradient + run.begin, p.first + run.begin,
             p.second + run.begin);
      }
      continue;
    }
    matrices[p.name] = &p;
    Real* const direction = (directions[p.name] = Array(p.shape)).data();
    const Real keep = Real(options_.momentum);
    const bool nesterov = options_.nesterov;
    parallel_for(p.shape.size(), 16384, [=](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        p.first[i] = keep * p.first[i] + p.gradient[i];
        direction[i] = nesterov ? p.gradient[i] + keep * p.first[i] : p.first[i];
      }
    });
  }
  for (const ParameterBlock& block : parameter_blocks(model(), options_.granularity)) {
    update_block(block, matrices, directions);
  }
}

void Muon::update_block(const ParameterBlock& block,
                        const std::map<std::string, const Moving*>& parameters,
                        const Directions& directions) const {
  // Calls visit(parameter, part, offset of the part in the block); returns the end of the last.
  const auto for_each_part = [&](auto visit) {
    Index offset = 0;
    for (const BlockPart& part : block) {
      const auto found = parameters.find(part.name);
      if (found == parameters.end()) continue;  // no gradient, or AdamW's
      visit(*found->second, part, offset);
      offset += part.end - part.begin;
    }
    return offset;
  };
  Shape shape;
  const Index length = for_each_part(
      [&](const Moving& p, const BlockPart& part, Index) { shape = p.shape.with(part.axis, 0); });
  if (length == 0) return;
  shape.set(block.front().axis, length);

  Array matrix(shape);
  for_each_part([&](const Moving& p, const BlockPart& part, Index offset) {
    const Real* const direction = directions.at(p.name).data();
    for_each_element(part, p.shape, offset, shape[1],
                     [&](Index from, Index to) { matrix[to] = direction[from]; });
  });
  matrix = orthogonalised(matrix, options_.iterations);
  const double scale = std::sqrt(std::max(1.0, double(shape[0]) / double(shape[1])));
  for_each_part([&](const Moving& p, const BlockPart& part, Index offset) {
    const Real shrink = Real(1 - p.rate * p.weight_decay), step_size = Real(p.rate * scale);
    for_each_element(part, p.shape, offset, shape[1], [&](Index to, Index from) {
      p.value[to] = shrink * p.value[to] - step_size * matrix[from];
    });
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
