// The search for experiments by the words of a question.
#include "headroom_lab/lab/ask.hpp"

#include <map>

#include "support/catch.hpp"

using namespace headroom;

namespace {

std::vector<std::string> names_about(const std::string& text) {
  std::vector<std::string> names;
  for (const Experiment* experiment : experiments_about(text)) names.push_back(experiment->name);
  return names;
}

}  // namespace

TEST_CASE("a question in other words finds its experiment first") {
  const std::map<std::string, std::string> questions = {
      {"are heads shared", "shared-head"},
      {"Why do heads use the same KQV weights?", "shared-head"},
      {"Can I take the first 64 neurons of BERT as a head?", "head-slices"},
      {"Do multiple heads lead to more parameters?", "head-count"},
      {"Does nn.MultiheadAttention change its output with num_heads?", "head-count"},
      {"measuring the importance of a head, d2l", "d2l"},
      {"valid_lens", "d2l"},
      {"gradients of single-head and multi-head attention", "single-vs-multi"},
      {"xavier initialization", "init"},
      {"is adam the same", "optimizers"},
      {"which is faster", "speed-of-layouts"},
  };
  for (const auto& [question, name] : questions) {
    INFO(question);
    const std::vector<std::string> found = names_about(question);
    REQUIRE_FALSE(found.empty());
    CHECK(found.front() == name);
    CHECK(found.size() < experiments().size());
  }
}

TEST_CASE("without words of its own a question finds all experiments, with strange ones none") {
  for (const char* text : {"", "is it the", "?!"}) {
    INFO(text);
    CHECK(names_about(text).size() == experiments().size());
  }
  CHECK(names_about("heads").size() == 5);
  CHECK(names_about("zebra crossing").empty());
  CHECK(names_about("zebra valid_lens") == names_about("valid_lens"));
}
