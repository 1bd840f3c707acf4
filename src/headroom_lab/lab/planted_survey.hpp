// Measures the losses of planted models, and how well every metric finds their planted heads.
// Private.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headroom_lab/lab/grid.hpp"
#include "lab/planted_model.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

inline constexpr Index planted_measured = 16, planted_tested = 64;  // examples

/// One model: whether its heads do what was planted, and whether each metric finds them.
struct PlantedFound {
  double all, planted, noise;          // accuracy with these heads
  double strength;                     // of the weakest planted head
  double weight;                       // on the key of the role, mean; smallest planted head
  double noise_weight;                 // likewise, largest noise head
  double norms_apart;                  // largest relative difference of two heads' norms
  std::map<std::string, double> aucs;  // by metric
  std::vector<std::string> absent;     // metrics without scores
  std::vector<std::pair<std::string, Array>> maps;  // of the first example: planted and noise
};
using PlantedSurveys = Grid<PlantedTask, PlantedFound>;

/// The probability that a planted head has a higher score than a noise head, of which ties count
/// one half: the area under the ROC curve. Scores that differ by rounding only are tied.
double planted_auc(std::span<const double> planted, std::span<const double> noise);

/// Draws `draws` models of each task, trains all their weights for `steps` steps, and measures
/// them. With the same options a model starts from the same weights for any number of steps.
PlantedSurveys planted_surveys(const LabOptions& options, Index draws, Index steps);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
