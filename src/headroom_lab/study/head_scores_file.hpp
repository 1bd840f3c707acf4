// The output of `importance --json`, which a study keeps for each trunk. Private.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "headroom/io/fields.hpp"
#include "headroom_measure/pruning/pruner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The fields that a study uses. A regret that is null is not defined, here NaN.
struct HeadScoresFile {
  struct Metric {
    std::string name = {};
    bool keep_low = false;
    std::vector<double> scores = {};  // of all heads
    std::map<std::string, Record> others = {};
    using T = Metric;
    using Fields = Listed<&T::name, &T::keep_low, &T::scores, all_others<&T::others>>;
  };
  struct Game {
    std::string title = {};
    std::map<std::string, std::vector<double>> regret = {};  // by metric and number of kept heads
    std::map<std::string, Record> others = {};
    using T = Game;
    using Fields = Listed<&T::title, &T::regret, all_others<&T::others>>;
  };
  std::vector<HeadHistory> heads = {};
  std::vector<Metric> metrics = {};
  std::vector<std::string> constant = {};  // metrics that do not tell heads apart
  std::vector<Game> games = {};
  std::map<std::string, Record> others = {};

  using T = HeadScoresFile;
  using Fields = Listed<&T::heads, &T::metrics, if_any<&T::constant>, if_any<&T::games>,
                        all_others<&T::others>>;
};

/// Throws FileError for a file that cannot be read, DataError for one of another form and for a
/// metric without a finite score for each head.
HeadScoresFile head_scores_in(const std::filesystem::path& file);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
