// Steps of elementwise optimizers in both layouts, and in a layout that is transplanted into the
// other one midway. Private.
#pragma once

#include <map>
#include <string>

#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The worst relative difference of each quantity, by its name.
using Worst = std::map<std::string, double>;
void raise(Worst& worst, const std::string& what, double difference);

/// SGD with momentum, Adam, AdamW.
inline constexpr int elementwise_optimizers = 3;
inline constexpr int compared_steps = 20, transplanted_at = 10;

/// Trains both layouts, each behind a Linear so that dX affects the updates, on the same random
/// causal inputs and cotangents, with optimizer number `which`. After `transplanted_at` steps the
/// parameters and moments of the layout `from` are transplanted into a third model of the other
/// layout, which is trained further like them. Compares parameters and moments after
/// `compared_steps` steps.
void compare_steps(const TwinLayouts& twins, Layout from, int which, Rng& rng, Worst& worst);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
