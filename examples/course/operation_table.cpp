// sources: tests/support/random.cpp tests/ops/table/*.cpp
// The table of operations: every public operation of the library, with the random calls and the
// planted faults of its tests, under gradcheck. Numbers of chapter 02, and its milestone.
#include <cstdio>
#include <map>
#include <string>

#include "facts.hpp"
#include "headroom/autograd/gradcheck.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/ops/ops.hpp"
#include "ops/table/operation.hpp"
#include "planted.hpp"

using namespace headroom;
using test::Case;
using test::Draw;
using test::Fault;
using test::Row;

namespace {

constexpr int calls = 64;  // of each operation, with random sizes

/// The verdicts on one operation.
struct Verdict {
  int accepted = 0;
  double worst = 0;
  Index compared = 0;
  std::map<std::string, bool> caught, by_ones, by_random;  // each fault, in any of the calls
};

int count(const std::map<std::string, bool>& faults) {
  int result = 0;
  for (const auto& [name, caught] : faults) result += caught ? 1 : 0;
  return result;
}

Verdict examine(const Row& row) {
  Verdict verdict;
  for (int number = 0; number < calls; ++number) {
    Draw draw(row.name, number, false);
    const Case example = row.draw(draw);
    const GradcheckResult result = gradcheck(example.operation, example.inputs);
    verdict.accepted += result.passed ? 1 : 0;
    verdict.worst = std::max(verdict.worst, double(result.worst));
    verdict.compared += result.compared;
    std::vector<Tensor> inputs;
    for (const Array& input : example.inputs) inputs.emplace_back(input);
    const Shape of_y = example.operation(inputs).shape();
    Rng rng(1, row.name, std::uint64_t(number));
    const Array all_ones = ones(of_y), random = normal(of_y, 1, rng);
    if (example.faults.empty()) continue;  // a degenerate call, on which faults are right
    for (const Fault& fault : test::faults_of(example)) {
      const Function faulty = planted(example, fault);
      const auto see = [&](std::map<std::string, bool>& verdicts, const auto& check) {
        bool& seen = verdicts[fault.name];
        seen = seen || check();
      };
      const auto one_pass = [&](const Array& dy) {
        return [&] { return !(largest_error(faulty, example.inputs, dy) <= 1e-6); };
      };
      see(verdict.caught, [&] { return !gradcheck(faulty, example.inputs).passed; });
      see(verdict.by_ones, one_pass(all_ones));
      see(verdict.by_random, one_pass(random));
    }
  }
  return verdict;
}

}  // namespace

int main() {
  set_num_threads(1);  // the arrays are small, and the results do not depend on the threads
  int operations = 0, accepted = 0, faults = 0, caught = 0, by_ones = 0, by_random = 0;
  double worst = 0;
  Index compared = 0;
  std::string missed;
  std::printf("operation, and how many of the faults planted in it were caught\n");
  for (const Row& row : test::operations()) {
    const Verdict verdict = examine(row);
    const int of_row = int(verdict.caught.size()), found = count(verdict.caught);
    std::printf("%-27s %d/%d%s", row.name.c_str(), found, of_row,
                ++operations % 3 == 0 ? "\n" : "   ");
    accepted += verdict.accepted;
    worst = std::max(worst, verdict.worst);
    compared += verdict.compared;
    faults += of_row;
    caught += found;
    by_ones += count(verdict.by_ones);
    by_random += count(verdict.by_random);
    if (verdict.accepted < calls) missed += "refused, although right: " + row.name + "\n";
    for (const auto& [name, is_caught] : verdict.caught) {
      if (!is_caught) missed += "not caught in " + row.name + ": " + name + "\n";
    }
  }
  std::printf("\n%s", missed.c_str());
  claim("operations", operations, 50, 200);
  claim("right calls that pass", accepted, operations * calls, operations * calls);
  claim("right calls", operations * calls, operations * calls, operations * calls);
  fact("comparisons", double(compared));
  claim("worst error / allowed", worst, 0, 1);
  claim("planted faults", faults, 150, 1000);
  claim("caught by gradcheck", caught, faults, faults);
  part("02/f", "02/g");
  claim("caught by one random pass", by_random, faults - operations, faults - operations, "02/g");
  claim("caught by one pass from ones", by_ones, 20, by_random - 5, "02/f");
  return finish();
}
