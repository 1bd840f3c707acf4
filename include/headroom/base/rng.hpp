// Counter-based random numbers in named streams: any number of a stream can be computed without the
// ones before it, so results do not depend on the number of threads, the layout or pruned heads.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Philox 4x32 with 10 rounds: four random words from a counter and a key.
/// Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3", section 3.3.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

/// A stable 64-bit number for a name (FNV-1a), to tell streams and modules apart.
std::uint64_t hash_name(std::string_view name);

/// Everything that determines the next number of an Rng: 32 bytes, saved in checkpoints.
struct RngState {
  std::uint64_t key = 0;        // from seed and stream
  std::uint64_t substream = 0;  // free for the user: epoch, example, ...
  std::uint64_t position = 0;   // words drawn so far
  std::uint64_t reserved = 0;
  bool operator==(const RngState&) const = default;
};

/// A stream of random numbers, fixed by (seed, stream name, substream). All draws are exactly
/// representable in float32, so both precisions start from the very same numbers.
class Rng {
 public:
  explicit Rng(std::uint64_t seed, std::string_view stream = "default",
               std::uint64_t substream = 0);
  explicit Rng(const RngState& state) : state_(state) {}

  /// The next 32 random bits.
  std::uint32_t word();
  /// In [0, 1), a multiple of 2^-24.
  Real uniform();
  Real uniform(Real low, Real high);
  /// Standard normal by Box and Muller's transform, rounded to float32.
  Real normal();
  /// In [0, n), without bias. Throws UsageError for n < 1.
  Index below(Index n);

  const RngState& state() const { return state_; }

 private:
  RngState state_;
};

/// The numbers of one dropout mask: element e of the mask of `module` and `head` at training step
/// `step` gets uniform(e) in [0, 1), in whatever order the elements are asked for.
class MaskStream {
 public:
  MaskStream(std::uint64_t seed, std::uint64_t step, std::uint64_t module, Index head = 0);
  /// The number in [0, 1) of an element.
  float uniform(Index element) const;
  /// Writes uniform(first) ... uniform(first + n - 1).
  void fill(Index first, Index n, float* out) const;

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint32_t module_, step_, head_;
};

/// Brings items into a random order; each is as likely as any other (Fisher and Yates, from the
/// end).
template <class T>
void shuffle(std::vector<T>& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[static_cast<std::size_t>(rng.below(Index(i)))]);
  }
}
/// The numbers 0 to n - 1 in a random order.
std::vector<Index> random_order(Index n, Rng& rng);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
