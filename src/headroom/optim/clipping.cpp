// The norm of all gradients, and its limit.
#include "headroom/optim/clipping.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/op_scope.hpp"
#include "headroom/base/parallel.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index chunk = 16384;

/// Sum of squares in double: chunks on all threads, then the chunks in order.
double sum_of_squares(const Array& array) {
  const Index chunks = (array.size() + chunk - 1) / chunk;
  std::vector<double> partial(static_cast<std::size_t>(chunks), 0);
  parallel_for(array.size(), chunk, [&](Index begin, Index end) {
    const Real* const x = array.data();
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (Index i = begin; i < end; ++i) {
      sum += double(x[i]) * double(x[i]);
    }
    at(partial, begin / chunk) = sum;
  });
  double total = 0;
  for (const double sum : partial) total += sum;
  return total;
}

void scale(Array& array, Real factor) {
  if (array.shared()) array = array.clone();
  Real* const x = array.data();
  parallel_for(array.size(), chunk, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) x[i] *= factor;
  });
}

void check_limit(const char* function, double limit) {
  if (limit > 0) return;
  throw UsageError(fmt::format("{}: the limit {} is not positive", function, limit));
}

}  // namespace

double grad_norm(Module& module) {
  const OpScope op("gradient norm");
  double total = 0;
  for (const NamedParameter& parameter : parameters(module)) {
    if (parameter.tensor.grad().defined()) total += sum_of_squares(parameter.tensor.grad());
  }
  return std::sqrt(total);
}

double clip_grad_norm(Module& module, double limit) {
  check_limit("clip_grad_norm", limit);
  const double norm = grad_norm(module);
  const double factor = limit / (norm + 1e-6);
  if (!std::isfinite(norm) || factor >= 1) return norm;
  const OpScope op("clipping");
  for (NamedParameter& parameter : parameters(module)) {
    if (parameter.tensor.grad().defined()) {
      scale(parameter.tensor.mutable_grad(), Real(factor));
    }
  }
  return norm;
}

double clip_block_norms(Module& module, double limit, Granularity granularity) {
  check_limit("clip_block_norms", limit);
  const OpScope op("clipping");
  std::map<std::string, Array*> gradients;
  for (NamedParameter& parameter : parameters(module)) {
    if (!parameter.tensor.grad().defined()) continue;
    Array& gradient = parameter.tensor.mutable_grad();
    if (gradient.shared()) gradient = gradient.clone();
    gradients[parameter.name] = &gradient;
  }
  double largest = 0;
  for (const ParameterBlock& block : parameter_blocks(module, granularity)) {
    const auto for_each_number = [&](auto visit) {
      for (const BlockPart& part : block) {
        const auto found = gradients.find(part.name);
        if (found == gradients.end()) continue;
        Array& gradient = *found->second;
        for_each_run(gradient.shape(), part, [&](Index first, Index count) {
          for (Index i = first; i < first + count; ++i) visit(gradient[i]);
        });
      }
    };
    double squares = 0;
    for_each_number([&](Real x) { squares += double(x) * double(x); });
    const double norm = std::sqrt(squares);
    if (std::isnan(norm) || norm > largest) largest = norm;
    const double factor = limit / (norm + 1e-6);
    if (!std::isfinite(norm) || factor >= 1) continue;
    for_each_number([&](Real& x) { x *= Real(factor); });
  }
  return largest;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
