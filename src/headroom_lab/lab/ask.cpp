// The search for experiments by words and synonyms.
#include "headroom_lab/lab/ask.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

using Words = std::vector<std::string>;

constexpr std::size_t most_found = 5;

/// Words in which questions about the same thing differ; a line for each thing.
const std::vector<Words>& synonyms() {
  static const std::vector<Words> all = {
      {"shared", "same", "equal", "common", "tied", "identical"},
      {"pruning", "removing", "cutting", "deleting", "dropping", "compressing"},
      {"matrix", "linear", "projection", "weights", "qkv", "kqv"},
      {"slice", "rows", "part", "split", "chunk", "neurons", "64"},
      {"number", "count", "many", "more", "several", "multiple"},
      {"single", "one", "wide"},
      {"multi", "multihead", "multiheadattention", "multiple", "eight"},
      {"gradient", "derivative", "backward", "backpropagation", "backprop"},
      {"important", "importance", "measure", "score"},
      {"mask", "padding", "valid", "lens", "lengths"},
      {"layout", "stored", "fused", "separate", "concatenated"},
      {"speed", "fast", "faster", "slow", "time"},
      {"initialise", "initialize", "xavier", "init"},
      {"rounding", "precision", "float", "double"},
      {"optimizer", "adam", "sgd", "muon", "lamb"},
      {"bert", "huggingface", "gpt", "pytorch"}};
  return all;
}

/// The words of a text in lower case, each once, without those that every question has.
Words words_in(const std::string& text) {
  static const Words common = {"a",    "all", "an", "and",  "are",  "as",    "at",    "be",
                               "by",   "can", "do", "does", "for",  "from",  "has",   "have",
                               "how",  "i",   "if", "in",   "is",   "it",    "its",   "may",
                               "my",   "not", "of", "on",   "or",   "the",   "their", "they",
                               "this", "use", "to", "what", "when", "which", "why",   "with"};
  Words words;
  std::string word;
  for (const char c : text + " ") {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte)) {
      word += static_cast<char>(std::tolower(byte));
      continue;
    }
    const auto is = [&](const Words& list) {
      return std::find(list.begin(), list.end(), word) != list.end();
    };
    if (!word.empty() && !is(common) && !is(words)) words.push_back(word);
    word.clear();
  }
  return words;
}

/// Returns true for equal words, and for words with the same beginning of 4 letters or more and
/// endings of at most 3 letters: "shared" and "sharing".
bool same_stem(const std::string& a, const std::string& b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() && in_b == b.end()) return true;
  return in_a - a.begin() >= 4 && a.end() - in_a <= 3 && b.end() - in_b <= 3;
}

bool any_same(const Words& words, const std::string& word) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& other) { return same_stem(other, word); });
}

double fit(const std::string& word, const Experiment& experiment) {
  if (any_same(words_in(experiment.name + " " + experiment.title + " " + experiment.words), word)) {
    return 1;
  }
  const Words more = words_in(experiment.question + " " + experiment.asked_in);
  if (any_same(more, word)) return 0.8;
  const Words all = words_in(experiment.title + " " + experiment.words + " " + experiment.question);
  for (const Words& group : synonyms()) {
    if (!any_same(group, word)) continue;
    for (const std::string& other : group) {
      if (any_same(all, other)) return 0.6;
    }
  }
  return 0;
}

}  // namespace

std::vector<const Experiment*> experiments_about(const std::string& text) {
  const auto& all = experiments();
  std::vector<const Experiment*> found;
  for (const Experiment& experiment : all) found.push_back(&experiment);
  const Words asked = words_in(text);
  if (asked.empty()) return found;

  std::map<const Experiment*, double> sums;
  for (const std::string& word : asked) {
    std::map<const Experiment*, double> fits;
    for (const Experiment* const experiment : found) {
      if (const double fits_by = fit(word, *experiment); fits_by != 0) fits[experiment] = fits_by;
    }
    if (fits.empty()) continue;
    // A word that fits all experiments still finds them.
    const double weight = std::log(double(all.size()) / double(fits.size())) + 1e-3;
    for (const auto& [experiment, fits_by] : fits) sums[experiment] += weight * fits_by;
  }
  if (sums.empty()) return {};
  double best = 0;
  for (const auto& [experiment, sum] : sums) best = std::max(best, sum);
  std::erase_if(found, [&](const Experiment* e) { return sums[e] < best / 2; });
  std::stable_sort(found.begin(), found.end(),
                   [&](const Experiment* a, const Experiment* b) { return sums[a] > sums[b]; });
  if (found.size() > most_found) found.resize(most_found);
  return found;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
