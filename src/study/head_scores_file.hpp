// The output of `importance --json`, which a study keeps for each trunk. Private.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "headroom/heads/pruner.hpp"
#include "headroom/io/fields.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The fields that a study uses. A regret that is null is not defined, here NaN.
struct HeadScoresFile {
  struct Metric {
    std::string name = {};
    bool keep_low = false;
    std::vector<double> scores = {};  // of all heads
    std::map<std::string, Record> others = {};
    template <class Visit>
    static void fields(Visit visit) {
      visit("name", &Metric::name);
      visit("keep_low", &Metric::keep_low);
      visit("scores", &Metric::scores);
      visit(the_rest, &Metric::others);
    }
  };
  struct Game {
    std::string title = {};
    std::map<std::string, std::vector<double>> regret = {};  // by metric and number of kept heads
    std::map<std::string, Record> others = {};
    template <class Visit>
    static void fields(Visit visit) {
      visit("title", &Game::title);
      visit("regret", &Game::regret);
      visit(the_rest, &Game::others);
    }
  };
  std::vector<Pruner::Head> heads = {};
  std::vector<Metric> metrics = {};
  std::vector<std::string> constant = {};  // metrics that do not tell heads apart
  std::vector<Game> games = {};
  std::map<std::string, Record> others = {};

  template <class Visit>
  static void fields(Visit visit) {
    visit("heads", &HeadScoresFile::heads);
    visit("metrics", &HeadScoresFile::metrics);
    visit("constant", &HeadScoresFile::constant, Presence::if_any);
    visit("games", &HeadScoresFile::games, Presence::if_any);
    visit(the_rest, &HeadScoresFile::others);
  }
};

/// Throws FileError for a file that cannot be read, DataError for one of another form and for a
/// metric without a finite score for each head.
HeadScoresFile head_scores_in(const std::filesystem::path& file);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
