// The bounds of a parity case, and the distance that nudged runs add to them.
#include "parity/parity_case.hpp"

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using parity::Case;

namespace {

StoredTensor stored(const std::vector<double>& values) {
  StoredTensor tensor{StoredType::f64, Shape{Index(values.size())}, {}};
  const auto bytes = std::as_bytes(std::span(values));
  tensor.bytes.assign(bytes.begin(), bytes.end());
  return tensor;
}

/// A case of x = 1 and the given tensors.
Case case_of(const std::map<std::string, std::vector<double>>& tensors) {
  static const TemporaryFolder folder;
  TensorFile file;
  file.metadata = {{"kind", "train"}, {"config", "{}"}};
  file.put("in.x", stored({1}));
  for (const auto& [name, values] : tensors) file.put(name, stored(values));
  file.write(folder / "case");
  return Case(folder / "case");
}

/// Runs `check(x)`, which compares, and then eight times more with x nudged.
template <class Check>
void run_nudged(Case& c, const Check& check) {
  c.begin_run();
  check(c.input("x").value()[0]);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    c.begin_nudged_run(seed);
    check(c.input("x").value()[0]);
  }
}

/// 0 up to x = 1, then 0.5: the last bit of x decides.
Array step(Real x) { return Array(Shape{1}, {x > 1 ? Real(0.5) : Real(0)}); }

Array itself(Real x) { return Array(Shape{1}, {x}); }

/// The last bit of 1, so that the steps below are as large in both precisions.
constexpr Real bit = std::numeric_limits<Real>::epsilon();

}  // namespace

TEST_CASE("a number that is off because of the last bit of an input is undecided, and off") {
  Case c = case_of({{"out.y", {0.5}}});
  const auto check = [&](Real x) { c.compare("out.y", step(x)); };
  c.begin_run();
  check(c.input("x").value()[0]);
  CHECK_FALSE(c.undecided());  // nothing speaks for it yet
  run_nudged(c, check);
  CHECK(c.undecided());
  REQUIRE(c.off().size() == 1);
  CHECK(c.off()[0].name == "out.y");
  CHECK(c.off()[0].difference == 0.5);
  CHECK(c.off()[0].moved == 0.5);
}

TEST_CASE("a number that is right is not undecided, whatever nudges make of it") {
  Case c = case_of({{"out.y", {0}}});
  run_nudged(c, [&](Real x) { c.compare("out.y", step(x)); });
  CHECK(c.off().empty());
  CHECK_FALSE(c.undecided());
}

TEST_CASE("a wrong number that nudges hardly move is wrong") {
  Case c = case_of({{"out.y", {1.001}}});
  run_nudged(c, [&](Real x) { c.compare("out.y", itself(x)); });
  CHECK_FALSE(c.undecided());
  REQUIRE(c.off().size() == 1);
  CHECK(c.off()[0].used > 1);
  CHECK(c.off()[0].moved == double(bit));
  CHECK(c.largest_difference() == 1.001 - 1.0);
}

TEST_CASE("one wrong tensor decides against a case, whatever moves beside it") {
  Case c = case_of({{"out.y", {0.5}}, {"out.z", {1.001}}});
  run_nudged(c, [&](Real x) {
    c.compare("out.y", step(x));
    c.compare("out.z", itself(x));
  });
  CHECK_FALSE(c.undecided());
  REQUIRE(c.off().size() == 2);
  CHECK(c.off()[0].used >= c.off()[1].used);
}

TEST_CASE("a key bias, which is noise, speaks for nothing beside it and is not held to its value") {
  const std::string name = "after.in_proj_bias";
  const auto noisy = [](Real x) {
    return Array(Shape{3}, {Real(0.001), Real(0.2) + (x - 1) / bit, Real(0)});
  };
  Case wrong = case_of({{name, {0, 0, 0}}});
  run_nudged(wrong, [&](Real x) { wrong.compare(name, noisy(x)); });
  CHECK_FALSE(wrong.undecided());
  REQUIRE(wrong.off().size() == 1);
  CHECK(wrong.off()[0].at == std::vector<Index>{0});
  Case right = case_of({{name, {double(Real(0.001)), 0, 0}}});
  run_nudged(right, [&](Real x) { right.compare(name, noisy(x)); });
  CHECK(right.off().empty());
}

TEST_CASE("what must be exact is wrong when it is not, whatever nudges move") {
  Case c = case_of({{"param.w", {0.5}}});
  run_nudged(c, [&](Real x) { c.compare_exactly("param.w", step(x)); });
  CHECK(c.off().size() == 1);
  CHECK_FALSE(c.undecided());
}
