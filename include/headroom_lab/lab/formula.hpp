// Formula: a formula in a small language, written as MathML for pages and as text for terminals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A formula such as `P_h = softmax(Q_h K_h^T / sqrt(D))`:
///
///     S_h, W^T, W_Q^h   subscript and superscript; one of several characters is put in braces
///     {a + b}/{c}       a fraction; a slash without braces stays in the line
///     sqrt(D), sum_h    root, sum
///     "over the keys"   words; so is a name of several letters (softmax, in_proj_weight), unless
///     it
///                       is a product of capitals, after d or not (QKV, dW)
///     * (x) . | <a, b>  elementwise product, Kronecker product, dot, bars, inner product
///     <= >= != <- ->    relations and arrows
class Formula {
 public:
  /// Throws UsageError for quotes, braces or parentheses of a root that do not close, and for a
  /// script without a base or content.
  explicit Formula(std::string_view source);

  /// "P_h = softmax(Q_h K_h^T / sqrt(D))": the source without quotes and braces.
  std::string text() const;
  /// A <math> element.
  std::string mathml() const;

 private:
  enum class Kind { space, name, number, words, sign, group, scripts, fraction, root };
  /// `parts` are the contents of a group or root, numerator and denominator, or base, subscript and
  /// superscript (an empty group where there is none).
  struct Node {
    Kind kind = Kind::space;
    std::string written;
    std::vector<Node> parts;
  };
  class Parser;

  static std::string text_of(const Node& node);
  static std::string text_of(const std::vector<Node>& nodes);
  static std::string tight_text_of(const Node& group);
  static std::string mathml_of(const Node& node);
  static std::string mathml_of(const std::vector<Node>& nodes);

  std::vector<Node> nodes_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
