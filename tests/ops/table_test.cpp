// Checks of every operation, for each row of the table in tests/ops/table.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "headroom/autograd/gradcheck.hpp"
#include "headroom/base/parallel.hpp"
#include "ops/table/operation.hpp"
#include "support/close.hpp"
#include "support/random.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

constexpr int small_cases = 64, large_cases = 4;

/// "case 12: inputs [2, 3] [3]"
std::string describe(const Case& example, int number, bool large) {
  std::ostringstream text;
  text << (large ? "large case " : "case ") << number << ": inputs";
  for (const Array& input : example.inputs) text << ' ' << input.shape().text();
  return text.str();
}

/// Calls check(example) for all small cases of a row, and the large ones if asked to.
template <class Check>
void for_each_case(const Row& row, bool with_large, Check check) {
  for (int number = 0; number < small_cases + (with_large ? large_cases : 0); ++number) {
    const bool large = number >= small_cases;
    Draw draw(row.name, number, large);
    const Case example = row.draw(draw);
    INFO(row.name << ", " << describe(example, number, large));
    check(example, large);
  }
}

/// Calls check(row) in a section per row, so that `-c softmax` runs one operation only.
template <class Check>
void for_each_row(Check check) {
  for (const Row& row : operations()) {
    DYNAMIC_SECTION(row.name) { check(row); }
  }
}

Tensors constants(const Arrays& inputs) {
  Tensors tensors;
  for (const Array& input : inputs) tensors.emplace_back(input);
  return tensors;
}

/// The value, then the gradients under a random cotangent.
Arrays value_and_gradients(const Function& function, const Arrays& inputs) {
  Tensors leaves;
  for (const Array& input : inputs) leaves.push_back(parameter(input.clone()));
  const Tensor y = function(leaves);
  Rng rng(9, "cotangent");
  Arrays results{y.value()};
  if (y.requires_grad()) y.backward(normal(y.shape(), rng));
  for (const Tensor& leaf : leaves) {
    results.push_back(leaf.grad().defined() ? leaf.grad() : zeros(leaf.shape()));
  }
  return results;
}

const std::string ops_headers = std::string(HEADROOM_INCLUDE_DIR) + "/headroom/ops";

/// The text of a public header, without its comments.
std::string header_text(const std::string& name) {
  std::ifstream file(ops_headers + "/" + name);
  REQUIRE(file.good());
  std::string text;
  for (std::string line; std::getline(file, line);) {
    text += line.substr(0, line.find("//")) + '\n';
  }
  return text;
}

/// Counts the declarations at the start of a line of each function that returns tensors.
std::map<std::string, int> declared_in(const std::string& text) {
  std::map<std::string, int> count;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    for (const std::string type :
         {"Tensor ", "std::vector<Tensor> ", "AttentionResult ", "Attention "}) {
      if (line.rfind(type, 0) != 0) continue;
      const std::size_t end = line.find('(');
      if (end != std::string::npos) ++count[line.substr(type.size(), end - type.size())];
    }
  }
  return count;
}

}  // namespace

TEST_CASE("every operation of the public headers has its row") {
  std::map<std::string, int> declared, rows;
  for (const auto& header : std::filesystem::directory_iterator(ops_headers)) {
    const std::string file = header.path().filename().string();
    if (file == "composed.hpp") continue;
    for (const auto& [name, count] : declared_in(header_text(file))) declared[name] += count;
  }
  for (const Row& row : operations()) ++rows[row.declared];
  CHECK(declared.size() > 35);
  for (const auto& [name, count] : declared) {  // every overload has a row, some have several
    INFO(name << " is declared " << count << " times");
    CHECK(rows[name] >= count);
  }
  for (const auto& [name, count] : rows) {
    INFO(name << " is declared nowhere");
    CHECK(declared.count(name) == 1);
  }
}

TEST_CASE("every composed twin is compared with its fused operation") {
  std::set<std::string> twins;
  for (const auto& [name, count] : declared_in(header_text("composed.hpp"))) twins.insert(name);
  for (const char* part : {"split_heads", "merge_heads"}) CHECK(twins.erase(part) == 1);
  CHECK(twins.size() > 15);
  std::set<std::string> compared;
  for (const Row& row : operations()) {
    Draw draw(row.name, 0, false);
    if (row.draw(draw).composed) compared.insert(row.declared);
  }
  CHECK(compared == twins);
}

TEST_CASE("the cases of every operation include empty arrays and axes of size 1") {
  for_each_row([](const Row& row) {
    int empty = 0, of_size_1 = 0;
    for_each_case(row, false, [&](const Case& example, bool) {
      bool has_empty = false, has_1 = false;
      for (const Array& input : example.inputs) {
        has_empty = has_empty || input.empty();
        for (const Index size : input.shape()) has_1 = has_1 || size == 1;
      }
      empty += has_empty ? 1 : 0;
      of_size_1 += has_1 ? 1 : 0;
    });
    CHECK(empty >= 1);
    CHECK(of_size_1 >= 4);
  });
}

TEST_CASE("every operation: its values are those of plain loops") {
  for_each_row([](const Row& row) {
    int compared = 0;
    for_each_case(row, true, [&](const Case& example, bool large) {
      if (!example.reference) return;
      const Array y = example.operation(constants(example.inputs)).value();
      const Real allowed = tolerance(1e-12, large ? 2e-5 : 2e-6);
      CHECK_THAT(y, close_at_scale(example.reference(example.inputs), allowed, 1));
      ++compared;
    });
    CHECK(compared > small_cases / 2);
  });
}

TEST_CASE("every operation: values and gradients are those of its composed twin") {
  for_each_row([](const Row& row) {
    for_each_case(row, true, [&](const Case& example, bool large) {
      if (!example.composed) return;
      const Arrays fused = value_and_gradients(example.operation, example.inputs);
      const Arrays twin = value_and_gradients(example.composed, example.inputs);
      CHECK_THAT(fused[0], close_at_scale(twin[0], tolerance(1e-12, large ? 2e-5 : 2e-6), 1));
      for (std::size_t i = 1; i < fused.size(); ++i) {
        CHECK_THAT(fused[i], close_at_scale(twin[i], tolerance(1e-10, large ? 1e-4 : 2e-5), 1));
      }
    });
  });
}

TEST_CASE("every operation: 1, 2 and 3 threads give the same bits, forward and backward") {
  for_each_row([](const Row& row) {
    for_each_case(row, true, [&](const Case& example, bool) {
      const int before = num_threads();
      std::vector<Arrays> by_threads;
      for (const int threads : {1, 2, 3}) {
        set_num_threads(threads);
        by_threads.push_back(value_and_gradients(example.operation, example.inputs));
      }
      set_num_threads(before);
      for (std::size_t i = 0; i < by_threads[0].size(); ++i) {
        CHECK_THAT(by_threads[1][i], SameBits(by_threads[0][i]));
        CHECK_THAT(by_threads[2][i], SameBits(by_threads[0][i]));
      }
    });
  });
}

TEST_CASE("every operation: under NoGrad there is no tape, and the values are the same") {
  for_each_row([](const Row& row) {
    for_each_case(row, false, [&](const Case& example, bool) {
      Tensors leaves;
      for (const Array& input : example.inputs) leaves.push_back(parameter(input));
      const Tensor tracked = example.operation(leaves);
      CHECK(tracked.requires_grad());
      const NoGrad no_grad;
      const Tensor y = example.operation(leaves);
      const bool is_input = std::any_of(leaves.begin(), leaves.end(),
                                        [&](const Tensor& leaf) { return y.same(leaf); });
      CHECK((is_input || !y.requires_grad()));  // dropout with p = 0 returns its input
      CHECK(graph_size(y) == 0);
      CHECK_THAT(y.value(), SameBits(tracked.value()));
    });
  });
}

TEST_CASE("every operation: each input alone gets the gradient that it gets among all") {
  for_each_row([](const Row& row) {
    for_each_case(row, false, [&](const Case& example, bool) {
      if (example.inputs.size() < 2) return;
      const Arrays all = value_and_gradients(example.operation, example.inputs);
      for (std::size_t i = 0; i < example.inputs.size(); ++i) {
        const auto alone = [&](const Tensors& x) {
          Tensors inputs = constants(example.inputs);
          inputs[i] = x[0];
          return example.operation(inputs);
        };
        const Arrays result = value_and_gradients(alone, {example.inputs[i]});
        CHECK_THAT(result[1], close_at_scale(all[i + 1], tolerance(1e-14, 1e-6), 1));
      }
    });
  });
}

TEST_CASE("every operation: inputs and cotangent are left as they were") {
  for_each_row([](const Row& row) {
    for_each_case(row, false, [&](const Case& example, bool) {
      Tensors leaves;
      for (const Array& input : example.inputs) leaves.push_back(parameter(input.clone()));
      const Tensor y = example.operation(leaves);
      const Array before = y.value().clone();
      Rng rng(10);
      const Array cotangent = normal(y.shape(), rng), copy = cotangent.clone();
      y.backward(cotangent);
      CHECK_THAT(cotangent, SameBits(copy));
      CHECK_THAT(y.value(), SameBits(before));
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        CHECK_THAT(leaves[i].value(), SameBits(example.inputs[i]));
      }
    });
  });
}

TEST_CASE("every operation: a graph leaves nothing behind, whether it ran backward or not") {
  // A closure that held its own output would never be freed.
  for_each_row([](const Row& row) {
    for_each_case(row, false, [&](const Case& example, bool) {
      const std::size_t before = pool_statistics().live;
      {
        Tensors leaves;
        for (const Array& input : example.inputs) leaves.push_back(parameter(input));
        const Tensor never_run = example.operation(leaves);
      }
      CHECK(pool_statistics().live == before);
      value_and_gradients(example.operation, example.inputs);
      CHECK(pool_statistics().live == before);
    });
  });
}

TEST_CASE("every operation: run again, it takes no memory from the system") {
  for_each_row([](const Row& row) {
    for (const bool large : {false, true}) {
      Draw draw(row.name, 1, large);
      const Case example = row.draw(draw);
      value_and_gradients(example.operation, example.inputs);
      const std::size_t warm = pool_statistics().from_system;
      value_and_gradients(example.operation, example.inputs);
      CHECK(pool_statistics().from_system == warm);
    }
  });
}

TEST_CASE("every operation: its gradient is that of its values") {
  for_each_row([](const Row& row) {
    Index compared = 0;
    for_each_case(row, false, [&](const Case& example, bool) {
      const GradcheckResult result = gradcheck(example.operation, example.inputs);
      INFO(result.text());
      CHECK(result.passed);
      compared += result.compared;
    });
    CHECK(compared > 100);
  });
}

TEST_CASE("the negative control: every planted fault is caught by the same check") {
  for_each_row([](const Row& row) {
    std::map<std::string, int> caught;
    for_each_case(row, false, [&](const Case& example, bool) {
      for (const Fault& fault : faults_of(example)) {
        int& times = caught[fault.name];
        if (example.faults.empty() || times >= 1) continue;
        times += gradcheck(planted(example, fault), example.inputs).passed ? 0 : 1;
      }
    });
    // At least two, one of them specific to the formula.
    CHECK(caught.size() >= 3);
    for (const auto& [name, times] : caught) {
      INFO(row.name << ": " << name);
      CHECK(times > 0);
    }
  });
}

TEST_CASE("the negative control itself: a right backward planted the same way passes") {
  const Fault none{"none", [](const BackwardView& b) { return b.right; }};
  for_each_row([&](const Row& row) {
    for (int number = 0; number < 8; ++number) {
      Draw draw(row.name, number, false);
      const Case example = row.draw(draw);
      const GradcheckResult result = gradcheck(planted(example, none), example.inputs);
      INFO(row.name << ", " << describe(example, number, false) << ", " << result.text());
      CHECK(result.passed);
    }
  });
}
