// check_layout: what its laws have in common. Private.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace layout_laws {

/// A law that does not hold.
struct Broken {
  int law;
  std::string text;
};

inline void require(bool holds, int law, const std::string& text) {
  if (!holds) throw Broken{law, text};
}

/// Calls f; an exception breaks the law.
template <class F>
auto in_law(int law, const std::string& where, F f) {
  try {
    return f();
  } catch (const Broken&) {
    throw;
  } catch (const std::exception& error) {
    throw Broken{law, fmt::format("{}: {}", where, error.what())};
  }
}

Array random_values(const Shape& shape, Rng& rng, Real scale = 1);
bool same_bits(const Array& a, const Array& b);
/// Whether two computations of the same values agree.
bool same(const Array& a, const Array& b);
/// "[0, 4) of axis 0 of q.weight"
std::string range_text(const HeadSlice& slice);
/// "all heads but 1, 2"
std::string heads_text(std::span<const Index> removed);
/// The parameters of an attention by name.
std::map<std::string, Tensor> tensors_of(Attention& attention);
/// The value of the output bias, undefined without one.
Array output_bias_of(Attention& attention);

/// Values and gradients of an attention, by name.
struct Contents {
  explicit Contents(Attention& attention);
  std::map<std::string, Array> values, gradients;
};

/// A layout and configuration with inputs for it.
class LayoutCase {
 public:
  static constexpr Index batch = 2, queries = 5, keys = 4;
  explicit LayoutCase(const Attention& attention);

  /// An attention as the constructor draws it, always the same.
  std::unique_ptr<Attention> drawn() const;
  /// An attention with random parameters, others for each draw: zeros and ones would hide mistakes.
  std::unique_ptr<Attention> make(int draw = 0) const;
  /// The outputs of cross-attention and, where the widths allow it, causal self-attention.
  std::vector<Tensor> outputs(const Attention& attention, const Tensor& gates = {}) const;
  std::vector<Array> values(const Attention& attention, const Tensor& gates = {}) const;
  bool self_attention() const;
  /// Gates [H] that are 0 for these heads.
  Tensor gates_without(std::span<const Index> heads) const;
  /// All sets of up to four heads; of more, some of each kind.
  std::vector<std::vector<Index>> sets_of_heads() const;

  AttentionConfig config;
  Tensor query, key, value;

 private:
  Layout layout_;
};

// ---------------------------------------------------------------- the laws

/// Laws 9 and 11.
void check_construction(const LayoutCase& layout, const Attention& attention);
/// Laws 4 and 5 for the slices of an attention from which heads were removed.
void check_slices(Attention& attention, std::span<const Index> removed);
/// Law 1: equal calls have equal results, and the values of the inputs alone decide.
void check_state(const LayoutCase& layout);
void check_inputs(const LayoutCase& layout);
/// Law 8.
void check_score_bias(const LayoutCase& layout, const Attention& attention,
                      std::span<const Index> removed);
/// Laws 2 and 3.
void check_decoding(const LayoutCase& layout, const Attention& attention,
                    std::span<const Index> removed);
/// Law 5: an attention with the parts of FusedHeads, and no others, is the same function.
void check_same_parts(const LayoutCase& layout);
/// Law 6: while the gates of its heads are 0, a slice has no effect.
void check_owners(const LayoutCase& layout, std::span<const Index> heads);
/// Laws 6, 7 and 10, and those above for the heads that are left.
void check_removal(const LayoutCase& layout, std::span<const Index> heads);
/// Law 6 for the memory of an optimizer.
void check_moments(const LayoutCase& layout);
/// Law 13.
void check_gradients(const LayoutCase& layout);

}  // namespace layout_laws
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
