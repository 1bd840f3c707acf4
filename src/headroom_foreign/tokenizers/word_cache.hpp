// WordCache: the ids of words that were split before.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "headroom/data/tokenizer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Few words make up most of a text. This keeps the ids of words, each in the place that its hash
/// names, where the next word with that place replaces it.
class WordCache {
 public:
  /// The right to use the cache. Where another thread has it, this one does without the cache.
  class Use {
   public:
    explicit Use(WordCache& cache) : cache_(cache), lock_(cache.mutex_, std::try_to_lock) {}

    /// Appends the ids of a word: those that are kept, or those that `append(word, ids)` appends.
    template <class Append>
    void append_ids(std::string_view word, Tokens& ids, const Append& append) {
      if (!lock_ || word.size() > longest_word) return append(word, ids);
      Place& place = cache_.place_of(word);
      if (place.word != word) {
        place.word.clear();  // no word is empty: if append() throws, the place has none
        place.ids.clear();
        append(word, place.ids);
        place.word = word;
      }
      ids.insert(ids.end(), place.ids.begin(), place.ids.end());
    }

   private:
    WordCache& cache_;
    std::unique_lock<std::mutex> lock_;
  };

 private:
  static constexpr std::size_t number_of_places = 1 << 14;
  static constexpr std::size_t longest_word = 64;  // bytes; longer ones rarely come back
  struct Place {
    std::string word;
    Tokens ids;
  };
  Place& place_of(std::string_view word);

  std::vector<Place> places_;  // none before the first word
  std::mutex mutex_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
