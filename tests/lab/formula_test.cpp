// Formulas as text and as MathML.
#include "headroom_lab/lab/formula.hpp"

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Contains;

namespace {

std::string text(const char* source) { return Formula(source).text(); }
std::string mathml(const char* source) { return Formula(source).mathml(); }

}  // namespace

TEST_CASE("a formula's text is its source without quotes and braces") {
  CHECK(text("P_h = softmax(Q_h K_h^T / sqrt(D))") == "P_h = softmax(Q_h K_h^T / sqrt(D))");
  CHECK(text("P \"over the keys\"") == "P over the keys");
  CHECK(text("{dL}/{dW_Q^h} = {a + b}/{2}") == "dL / dW_Q^h = (a + b) / 2");
  CHECK(text("x_{ij} + y^{n - 1}") == "x_ij + y^(n - 1)");
  CHECK(text("sqrt((a + b) c)") == "sqrt((a + b) c)");
  CHECK(text("") == "");
}

TEST_CASE("a formula in MathML has scripts, fractions, roots and signs") {
  CHECK(mathml("W_Q^h") == "<math><msubsup><mi>W</mi><mi>Q</mi><mi>h</mi></msubsup></math>");
  CHECK(mathml("sqrt(D)") == "<math><msqrt><mi>D</mi></msqrt></math>");
  CHECK_THAT(mathml("{a}/{b}"), Contains("<mfrac><mi>a</mi><mi>b</mi></mfrac>"));
  CHECK_THAT(mathml("sum_h"), Contains("<msub><mo>∑</mo><mi>h</mi></msub>"));
  CHECK_THAT(mathml("dW_Q softmax"),
             Contains("<msub><mrow><mi>d</mi><mi>W</mi></mrow>") && Contains("<mi>softmax</mi>"));
  CHECK(mathml("max x") ==
        "<math><mrow><mi>max</mi><mspace width=\"0.3em\"/><mi>x</mi></mrow></math>");
  CHECK(mathml("in_proj_weight") == "<math><mi>in_proj_weight</mi></math>");
  CHECK_THAT(mathml("a <= 1e-6"), Contains("<mo>≤</mo>") && Contains("<msup><mn>10</mn>"));
  CHECK_THAT(mathml("0.5 - x"), Contains("<mn>0.5</mn><mo>−</mo>"));
  CHECK_THAT(mathml("\"<b> & c\""), Contains("&lt;b&gt; &amp; c"));
  CHECK_THAT(mathml("a & b"), Contains("<mo>&amp;</mo>"));
}

TEST_CASE("a formula that does not close is refused") {
  for (const char* wrong : {"a_", "_a", "{a", "a}", "\"a", "sqrt(a", "a_b_c", "a_{}", "{sqrt(a}"}) {
    INFO(wrong);
    CHECK_THROWS_AS(Formula(wrong), UsageError);
  }
  CHECK_THROWS_AS(Formula(std::string(100, '{') + std::string(100, '}')), UsageError);
  std::string roots;
  for (int i = 0; i < 100; ++i) roots += "sqrt(";
  CHECK_THROWS_AS(Formula(roots), UsageError);
}
