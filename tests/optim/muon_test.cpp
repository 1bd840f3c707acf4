// Muon and its orthogonalisation: against loops and values of torch, and singular values.
#include "headroom/optim/muon.hpp"

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/orthogonalise.hpp"
#include "support/bag.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"
#include "support/nn_support.hpp"
#include "support/optim_support.hpp"

using namespace headroom;
using headroom::test::set_slopes;

namespace {

Array start_matrix() {
  return Array({3, 2}, {Real(0.5), Real(-0.25), 1, -2, Real(0.75), Real(1.5)});
}

/// The singular values of a matrix [m, n]: roots of the eigenvalues of its n x n Gram matrix, by
/// Jacobi's rotations.
std::vector<double> singular_values(const Array& matrix) {
  const Index rows = matrix.dim(0), n = matrix.dim(1);
  std::vector<double> gram(static_cast<std::size_t>(n * n), 0);
  const auto at = [&](Index i, Index j) -> double& {
    return gram[static_cast<std::size_t>(i * n + j)];
  };
  for (Index r = 0; r < rows; ++r) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        at(i, j) += double(matrix[r * n + i]) * double(matrix[r * n + j]);
      }
    }
  }
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (Index p = 0; p < n; ++p) {
      for (Index q = p + 1; q < n; ++q) {
        const double angle = 0.5 * std::atan2(2 * at(p, q), at(q, q) - at(p, p));
        const double c = std::cos(angle), s = std::sin(angle);
        for (Index k = 0; k < n; ++k) {
          const double x = at(k, p), y = at(k, q);
          at(k, p) = c * x - s * y;
          at(k, q) = s * x + c * y;
        }
        for (Index k = 0; k < n; ++k) {
          const double x = at(p, k), y = at(q, k);
          at(p, k) = c * x - s * y;
          at(q, k) = s * x + c * y;
        }
      }
    }
  }
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) values.push_back(std::sqrt(std::max(0.0, at(i, i))));
  std::sort(values.begin(), values.end());
  return values;
}

double polynomial(double s) { return 3.4445 * s - 4.7750 * s * s * s + 2.0315 * s * s * s * s * s; }

Array transposed(const Array& matrix) {
  Array result({matrix.dim(1), matrix.dim(0)});
  for (Index i = 0; i < matrix.size(); ++i) {
    result[(i % matrix.dim(1)) * matrix.dim(0) + i / matrix.dim(1)] = matrix[i];
  }
  return result;
}

}  // namespace

// torch in double:  X = G.T/(G.norm()+1e-7);  five times  A = X@X.T;
//   X = 3.4445*X + (-4.7750*A + 2.0315*A@A)@X;  then X.T
TEST_CASE("orthogonalising a tall matrix gives the numbers of the same formula elsewhere") {
  Bag bag;
  Tensor& p = bag.add("p", start_matrix());
  set_slopes(p, 1);
  const Array expected(
      {3, 2}, {Real(0.2939476774881833), Real(0.7604429425858323), Real(-0.44590341536189393),
               Real(0.001992759651847642), Real(0.4492246814483063), Real(-0.7637642086722447)});
  CHECK_THAT(orthogonalised(p.grad()),
             test::close_at_scale(expected, test::tolerance(1e-14, 2e-6)));
}

TEST_CASE("orthogonalising brings singular values near one and leaves singular vectors") {
  for (const Shape& shape : {Shape{6, 6}, Shape{3, 11}, Shape{11, 3}, Shape{1, 5}, Shape{5, 1}}) {
    INFO(shape.text());
    const Array g = test::noise(shape, "matrix"), o = orthogonalised(g);
    REQUIRE(o.shape() == shape);
    const bool tall = shape[0] > shape[1];
    const std::vector<double> before = singular_values(tall ? g : transposed(g)),
                              after = singular_values(tall ? o : transposed(o));
    double norm = 0;
    for (const double s : before) norm += s * s;
    std::vector<double> expected;
    for (const double s : before) {
      double x = s / (std::sqrt(norm) + 1e-7);
      CHECK(x > 0.01);  // else five steps are not enough
      for (int i = 0; i < 5; ++i) x = polynomial(x);
      expected.push_back(x);
    }
    std::sort(expected.begin(), expected.end());
    for (std::size_t i = 0; i < after.size(); ++i) {
      CHECK(after[i] > 0.68);
      CHECK(after[i] < 1.14);
      CHECK(std::abs(after[i] - expected[i]) < (is_double ? 1e-12 : 1e-5));
    }
    // G = U S V^T and O = U S' V^T: then G^T O = V S S' V^T is symmetric.
    const Index m = shape[0], n = shape[1];
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < i; ++j) {
        double ij = 0, ji = 0;
        for (Index r = 0; r < m; ++r) {
          ij += double(g[r * n + i]) * double(o[r * n + j]);
          ji += double(g[r * n + j]) * double(o[r * n + i]);
        }
        CHECK(std::abs(ij - ji) < (is_double ? 1e-12 : 1e-4));
      }
    }
  }
}

TEST_CASE("orthogonalising knows zeros, scales and what is no matrix") {
  CHECK_THAT(orthogonalised(zeros({3, 4})), test::SameBits(zeros({3, 4})));
  Array g = test::noise({4, 4}, "matrix");
  const Array o = orthogonalised(g);
  for (Real& x : g.span()) x *= 1000;
  CHECK_THAT(orthogonalised(g), test::close_at_scale(o, test::tolerance(1e-6, 1e-5)));
  CHECK_THROWS_WITH(orthogonalised(zeros({4})), "orthogonalised: [4] is not a matrix");
}

// torch in double, with p of shape (3, 2) and the gradients of set_slopes:
//   B = 0.95*B + g;  D = g + 0.95*B if nesterov else B
//   p = p*(1 - 0.02*0.1) - 0.02*(3/2)**0.5*orthogonalised(D)
// torch.optim.Muon(lr=0.02, weight_decay=0.1, momentum=0.95), which orthogonalises in bfloat16,
// ends within 0.0008 of these.
TEST_CASE("six steps of Muon end where the same formula ends elsewhere") {
  const std::map<bool, Array> expected{
      {true, Array({3, 2},
                   {Real(0.43884477800996535), Real(-0.29264307291985153), Real(1.0120686484914245),
                    Real(-1.9553326174944243), Real(0.7545018901883802), Real(1.518630364925939)})},
      {false, Array({3, 2}, {Real(0.4188323455915741), Real(-0.31068890382548375),
                             Real(0.996164231722544), Real(-1.9331558290011344),
                             Real(0.7448621939942794), Real(1.5120406895186385)})}};
  for (const bool nesterov : {true, false}) {
    INFO("nesterov " << nesterov);
    Bag bag;
    Tensor& p = bag.add("p", start_matrix());
    Muon muon(bag, {.nesterov = nesterov, .weight_decay = 0.1});
    for (Index t = 1; t <= 6; ++t) {
      set_slopes(p, t);
      muon.step(0.02);
    }
    CHECK_THAT(p.value(),
               test::close_at_scale(expected.at(nesterov), test::tolerance(1e-13, 5e-6)));
  }
}

TEST_CASE("biases, norms, embeddings and the last layer follow AdamW, hidden matrices do not") {
  ModelConfig config = test::small_config(ModelKind::language_model, Layout::fused);
  config.positions = PositionKind::learned;
  config.tied_output = false;
  Rng rng(4), same(4);
  LanguageModel model(config, rng), twin(config, same);
  Muon muon(model, {.weight_decay = 0.1, .adam_rate_factor = 0.5});
  AdamW adamw(twin, {.beta2 = 0.95, .weight_decay = 0.1});
  for (std::uint64_t t = 1; t <= 3; ++t) {
    test::random_gradients(model, t);
    test::random_gradients(twin, t);
    muon.step(0.02);
    adamw.step(0.01);
  }
  const auto mine = parameters(model), theirs = parameters(twin);
  std::vector<std::string> followed;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    // Not to the bit: Muon calls the kernel, Adam may be a learner's (exercise 04/3).
    const bool equal = test::close_at_scale(theirs[i].tensor.value(), test::tolerance(1e-13, 1e-6))
                           .match(mine[i].tensor.value());
    const bool second = muon.state(mine[i].name).second.defined();
    CHECK(equal == second);
    if (equal && mine[i].tensor.rank() == 2) followed.push_back(mine[i].name);
    if (mine[i].tensor.rank() == 1) CHECK(equal);
  }
  CHECK(followed ==
        std::vector<std::string>{"embedding.weight", "positions.weight", "output.weight"});
}

TEST_CASE("what Muon orthogonalises can be chosen, and must be matrices") {
  Bag bag;
  Tensor& kept = bag.add("kept", start_matrix());
  bag.add("left", start_matrix());
  Muon muon(bag, {.orthogonalise = [](const NamedParameter& p) { return p.name == "kept"; }});
  CHECK_FALSE(muon.state("kept").second.defined());
  CHECK(muon.state("left").second.defined());
  muon.may_be_unused([](const NamedParameter& p) { return p.name == "left"; });
  set_slopes(kept, 1);
  muon.step(0.1);
  CHECK(bag.tensors["left"].value()[0] == Real(0.5));  // no gradient

  Bag vector;
  vector.add("bias", zeros({3}));
  CHECK_THROWS_WITH(Muon(vector, {.orthogonalise = [](const NamedParameter&) { return true; }}),
                    "muon: bias of shape [3] is not a matrix");
}

TEST_CASE("options of Muon outside their range are refused") {
  Bag bag;
  CHECK_THROWS_WITH(Muon(bag, {.momentum = 1}), "muon: momentum 1 is not in [0, 1)");
  CHECK_THROWS_WITH(Muon(bag, {.iterations = -1}), "muon: -1 iterations");
  CHECK_THROWS_AS(Muon(bag, {.weight_decay = -0.1}), UsageError);
  CHECK(Muon(bag, {.granularity = Granularity::head}).title() ==
        "muon: momentum 0.95 (Nesterov), 5 iterations, weight decay 0, per head; adamw: rate times "
        "1, beta1 0.9, beta2 0.95, epsilon 1e-08");
}
