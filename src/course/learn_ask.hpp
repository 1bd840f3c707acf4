// The predictions and questions of a chapter: chapters/NN_*/ask.json.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A number that the learner predicts before an experiment shows it.
struct AskedPrediction {
  std::string ask;
  std::vector<std::string> words = {};  // that are allowed in place of a number

  using T = AskedPrediction;
  using Fields = Listed<&T::ask, if_any<&T::words>>;
};

/// A question with several answers, one of them right.
struct ChapterQuestion {
  std::string ask;
  std::vector<std::string> options;
  Index right = 0;                   // the index of the right option
  std::vector<std::string> because;  // for each option, why it is right or not

  using T = ChapterQuestion;
  using Fields = Listed<&T::ask, &T::options, &T::right, &T::because>;
};

/// The contents of ask.json.
struct ChapterAsk {
  std::map<std::string, AskedPrediction> predictions;  // "07/a"
  std::vector<ChapterQuestion> questions;

  using T = ChapterAsk;
  using Fields = Listed<if_any<&T::predictions>, if_any<&T::questions>>;
};

/// Reads ask.json of a chapter's folder; empty if there is none. Throws DataError naming the file
/// and the entry that is wrong.
ChapterAsk read_ask(const std::filesystem::path& chapter);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
