// Philox and the streams over it.
#include "headroom/base/rng.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

using Words = std::array<std::uint32_t, 4>;

// Philox 4x32's constants.
constexpr std::uint32_t multiplier_a = 0xD2511F53U, multiplier_b = 0xCD9E8D57U;
constexpr std::uint32_t weyl_a = 0x9E3779B9U, weyl_b = 0xBB67AE85U;

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

// The finaliser of splitmix64: neighbouring seeds get unrelated keys.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

float unit(std::uint32_t word) { return float(word >> 8) * 0x1p-24F; }

}  // namespace

Words philox(Words counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{multiplier_a} * counter[0];
    const std::uint64_t b = std::uint64_t{multiplier_b} * counter[2];
    counter = {high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)};
    key = {key[0] + weyl_a, key[1] + weyl_b};
  }
  return counter;
}

std::uint64_t hash_name(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

Rng::Rng(std::uint64_t seed, std::string_view stream, std::uint64_t substream) {
  state_.key = mixed(seed ^ mixed(hash_name(stream)));
  state_.substream = substream;
}

std::uint32_t Rng::word() {
  const std::uint64_t block = state_.position / 4, lane = state_.position % 4;
  ++state_.position;
  return philox({low(block), high(block), low(state_.substream), high(state_.substream)},
                {low(state_.key), high(state_.key)})[lane];
}

Real Rng::uniform() { return Real(unit(word())); }

Real Rng::uniform(Real lowest, Real highest) {
  // In double from float borders: both precisions round once, to the same float.
  const auto from = double(float(lowest));
  const auto to = double(float(highest));
  return Real(float(from + (to - from) * double(unit(word()))));
}

Real Rng::normal() {
  const double u = 1.0 - double(unit(word()));  // in (0, 1]: its logarithm is finite
  const double v = double(unit(word()));
  return Real(float(std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v)));
}

Index Rng::below(Index n) {
  if (n < 1) throw UsageError(fmt::format("Rng::below({}): needs at least one choice", n));
  const auto range = static_cast<std::uint64_t>(n);
  const std::uint64_t limit =
      ~std::uint64_t{0} - ~std::uint64_t{0} % range;  // a multiple of n: no bias
  for (;;) {
    const std::uint64_t upper = word();
    const std::uint64_t draw = upper << 32 | word();
    if (draw < limit) return Index(draw % range);
  }
}

MaskStream::MaskStream(std::uint64_t seed, std::uint64_t step, std::uint64_t module, Index head) {
  const std::uint64_t key = mixed(seed ^ mixed(hash_name("dropout")));
  key_ = {low(key), high(key)};
  module_ = low(module) ^ high(module);
  step_ = low(step);
  head_ = static_cast<std::uint32_t>(head);
}

float MaskStream::uniform(Index element) const {
  float value = 0;
  fill(element, 1, &value);
  return value;
}

namespace {

/// Number of blocks that philox_side_by_side() computes at once in vector registers.
constexpr std::size_t lanes = 16;
/// 32-bit words, each in 64 bits, so that a product fits.
using Lanes = std::array<std::uint64_t, lanes>;

/// philox() of many counters, words[0][i] ... words[3][i] being the i-th.
void philox_side_by_side(std::array<Lanes, 4>& words, std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t low_half = 0xFFFFFFFFU;
  Lanes &a = words[0], &b = words[1], &c = words[2], &d = words[3];
  for (int round = 0; round < 10; ++round) {
#pragma omp simd
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::uint64_t x = multiplier_a * a[i], y = multiplier_b * c[i];
      a[i] = (y >> 32) ^ b[i] ^ key[0];
      b[i] = y & low_half;
      c[i] = (x >> 32) ^ d[i] ^ key[1];
      d[i] = x & low_half;
    }
    key = {key[0] + weyl_a, key[1] + weyl_b};
  }
}

}  // namespace

void MaskStream::fill(Index first, Index n, float* out) const {
  for (Index i = 0; i < n;) {
    const auto element = static_cast<std::uint64_t>(first + i);
    const std::uint64_t block = element / 4;
    if (element % 4 == 0 && n - i >= Index{4 * lanes}) {
      std::array<Lanes, 4> words;
      for (std::size_t k = 0; k < lanes; ++k) {
        words[0][k] = low(block + k);
        words[1][k] = high(block + k) ^ (head_ << 16);
        words[2][k] = module_;
        words[3][k] = step_;
      }
      philox_side_by_side(words, key_);
      for (std::size_t k = 0; k < lanes; ++k) {
        for (std::size_t word = 0; word < 4; ++word) out[i++] = unit(low(words[word][k]));
      }
      continue;
    }
    const Words words = philox({low(block), high(block) ^ (head_ << 16), module_, step_}, key_);
    for (std::uint64_t lane = element % 4; lane < 4 && i < n; ++lane) out[i++] = unit(words[lane]);
  }
}

std::vector<Index> random_order(Index n, Rng& rng) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  shuffle(order, rng);
  return order;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
