// Checks of an exercise. They are Catch2 test cases, one per stage, in the order in which they run;
// the program stops at the first stage that fails. A failure says in a few lines what is wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "headroom/autograd/tensor.hpp"
#include "headroom/base/rng.hpp"
#include "support/catch.hpp"

namespace chapter {

using headroom::Array;
using headroom::Index;
using headroom::Real;
using headroom::Shape;
using headroom::Tensor;

/// Every stage runs once for each of these seeds.
inline constexpr std::uint64_t seeds[] = {1, 2, 3, 4, 5};

/// Largest difference of two elements that count as equal, relative to max(1, |expected|).
inline constexpr double tolerance = headroom::is_double ? 1e-10 : 2e-5;

/// Fails with a sentence unless `holds`.
void require(bool holds, const std::string& sentence);

/// A mistake that learners make, and the result that it gives. When the result of an answer is
/// exactly this one, the message adds "It looks as if ..."; when several mistakes give it, "It
/// looks as if either ..., or ...". A hypothesis whose result cannot be computed (the library
/// throws) is dropped.
struct Hypothesis {
  std::string looks_as_if;
  std::function<Array()> result;
};

/// The names of axes and sizes in the messages of a check.
struct Names {
  std::vector<std::string> axes = {};                      // "batch", "token", "channel"
  std::vector<std::pair<std::string, double>> sizes = {};  // {"D", 3}: factors that are named
  // More results of the answer, for mistakes of the master file that give the same ones here.
  std::function<Array()> also = {};
};

/// Fails unless both agree. Shapes are compared first. The message names `subject` (plural: "the
/// values"), the number of wrong elements and the worst one, shows both next to each other around
/// it, and adds every hypothesis that gives the same result. If none does, it tries those that need
/// no function of their own: a constant factor, a flipped sign, zeros, axes exchanged, at most ten
/// slices of an axis in another order, and differences on one slice only.
void require_equal(const std::string& subject, const Array& expected, const Array& yours,
                   const Names& names = {}, const std::vector<Hypothesis>& hypotheses = {});

/// The message of require_equal(), "" if both agree. The `general` hypotheses are tried when no
/// other one gives the same result.
std::string difference(const std::string& subject, const Array& expected, const Array& yours,
                       const Names& names = {}, const std::vector<Hypothesis>& hypotheses = {},
                       const std::vector<Hypothesis>& general = {});

/// For a message of its own on a wrong result: "\nIt looks as if ...", with the mistakes of the
/// master file that gave the same result at the same place; or "".
std::string looks_as_if(const Array& wrong);
std::string looks_as_if(double wrong);

/// "4 times too large", "0.1 % too small": what a factor other than 1 makes of a positive number.
std::string times_too(double factor);

/// A call of the function under test.
using Call = std::function<Tensor()>;

/// The same call, which fails if it changes one of these inputs of the function.
Call unchanged(const Call& call, const std::vector<std::pair<std::string, Tensor>>& inputs);

/// Fails unless the call returns a tensor with the expected values.
void require_values(const Call& call, const Array& expected, const Names& names = {},
                    const std::vector<Hypothesis>& hypotheses = {});

/// An input of the call, as a parameter without a gradient, and the gradient that it must get.
struct Input {
  std::string name;
  Tensor tensor;
  Array gradient;
  std::vector<Hypothesis> hypotheses = {};
  std::vector<std::string> axes = {};
};

/// Runs the call and its backward pass from dL/dy = `dy`. The inputs already have a gradient from
/// another operation, so that a closure that replaces gradients instead of adding to them fails.
/// Other failures with a sentence of their own: the result has another shape than dy or is not
/// recorded on the tape, an input is changed, gets no gradient or one of another shape, a gradient
/// is wrong or does not depend on dy.
void require_gradients(const Call& call, const Array& dy, const std::vector<Input>& inputs,
                       const Names& names = {});

/// Normal random values.
Array random_array(const Shape& shape, headroom::Rng& rng);

}  // namespace chapter
