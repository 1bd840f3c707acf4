// What a parity case allows: the bounds, and what nudged runs add to them.
#include "parity/parity_case.hpp"

#include <catch2/catch.hpp>

#include "support/temporary_folder.hpp"

using namespace headroom;
using parity::Case;

namespace {

StoredTensor stored(const std::vector<double>& values) {
  StoredTensor tensor{StoredType::f64, Shape{static_cast<Index>(values.size())}, {}};
  const auto bytes = std::as_bytes(std::span(values));
  tensor.bytes.assign(bytes.begin(), bytes.end());
  return tensor;
}

/// A case of x = 1 and one tensor of the given name and values.
Case case_of(const std::string& name, const std::vector<double>& values) {
  static const TemporaryFolder folder;
  TensorFile file;
  file.metadata = {{"kind", "train"}, {"config", "{}"}};
  file.put("in.x", stored({1}));
  file.put(name, stored(values));
  file.write(folder / "case");
  return Case(folder / "case");
}

/// Compares f(x) under `name`, then in eight nudged runs.
template <class F>
void compare_nudged(Case& c, const std::string& name, const F& f) {
  c.begin_run();
  c.compare(name, f(c.input("x").value()[0]));
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    c.begin_nudged_run(seed);
    c.compare(name, f(c.input("x").value()[0]));
  }
}

/// The last bit of 1, so that the steps below are as large in both precisions.
constexpr Real bit = std::numeric_limits<Real>::epsilon();

}  // namespace

TEST_CASE("a number that the last bit of an input decides is excused, and named") {
  Case c = case_of("out.y", {0.5});
  const auto step = [](Real x) { return Array(Shape{1}, {x > 1 ? Real(0.5) : Real(0)}); };
  c.begin_run();
  c.compare("out.y", step(c.input("x").value()[0]));
  CHECK(c.worst().used > 1);
  compare_nudged(c, "out.y", step);
  CHECK(c.worst().used == 0.5);  // of twice what the nudges move it
  CHECK(c.off() == std::vector<std::string>{"out.y"});
}

TEST_CASE("a wrong number is not excused by nudges that hardly move it") {
  Case c = case_of("out.y", {1.001});
  compare_nudged(c, "out.y", [](Real x) { return Array(Shape{1}, {x}); });
  CHECK(c.worst().used > 1);
  CHECK(c.worst().moved == static_cast<double>(bit));
  CHECK(c.worst().largest_difference == 1.001 - 1.0);
}

TEST_CASE("a key bias, which is noise, excuses nothing beside it and is not held to its value") {
  const std::string name = "after.in_proj_bias";
  const auto noisy = [](Real x) {
    return Array(Shape{3}, {Real(0.001), Real(0.2) + (x - 1) / bit, Real(0)});
  };
  Case wrong = case_of(name, {0, 0, 0});
  compare_nudged(wrong, name, noisy);
  CHECK(wrong.worst().used > 1);
  CHECK(wrong.worst().at == std::vector<Index>{0});
  Case right = case_of(name, {static_cast<double>(Real(0.001)), 0, 0});
  compare_nudged(right, name, noisy);
  CHECK(right.worst().used == 0);
}

TEST_CASE("what must be exact stays so whatever nudges move") {
  Case c = case_of("param.w", {0.5});
  const auto step = [](Real x) { return Array(Shape{1}, {x > 1 ? Real(0.5) : Real(0)}); };
  c.begin_run();
  c.compare_exactly("param.w", step(c.input("x").value()[0]));
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    c.begin_nudged_run(seed);
    c.compare_exactly("param.w", step(c.input("x").value()[0]));
  }
  CHECK(c.worst().used > 1);
}
