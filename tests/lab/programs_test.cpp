// The small programs of the experiments, examples/lab/: each prints the result that its experiment
// explains, and returns 0 if the answer is right.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "headroom/headroom.hpp"
#include "headroom/lab/lab.hpp"
#include "support/catch.hpp"

// Each is one function of this file.
#define main clipping_program
#include <examples/lab/clipping.cpp>
#undef main
#define main d2l_program
#include <examples/lab/d2l.cpp>
#undef main
#define main dead_parameters_program
#include <examples/lab/dead-parameters.cpp>
#undef main
#define main dropout_streams_program
#include <examples/lab/dropout-streams.cpp>
#undef main
#define main euler_program
#include <examples/lab/euler.cpp>
#undef main
#define main groups_program
#include <examples/lab/groups.cpp>
#undef main
#define main head_count_training_program
#include <examples/lab/head-count-training.cpp>
#undef main
#define main head_count_program
#include <examples/lab/head-count.cpp>
#undef main
#define main head_slices_program
#include <examples/lab/head-slices.cpp>
#undef main
#define main init_program
#include <examples/lab/init.cpp>
#undef main
#define main jacobian_program
#include <examples/lab/jacobian.cpp>
#undef main
#define main layouts_program
#include <examples/lab/layouts.cpp>
#undef main
#define main optimizers_program
#include <examples/lab/optimizers.cpp>
#undef main
#define main rounding_program
#include <examples/lab/rounding.cpp>
#undef main
#define main shared_head_program
#include <examples/lab/shared-head.cpp>
#undef main
#define main single_vs_multi_program
#include <examples/lab/single-vs-multi.cpp>
#undef main
#define main speed_of_layouts_program
#include <examples/lab/speed-of-layouts.cpp>
#undef main
#define main symmetry_program
#include <examples/lab/symmetry.cpp>
#undef main
#define main transplant_program
#include <examples/lab/transplant.cpp>
#undef main

TEST_CASE("every experiment has a small program, which shows its answer") {
  const std::map<std::string, int (*)()> programs = {
      {"clipping", clipping_program},
      {"d2l", d2l_program},
      {"dead-parameters", dead_parameters_program},
      {"dropout-streams", dropout_streams_program},
      {"euler", euler_program},
      {"groups", groups_program},
      {"head-count", head_count_program},
      {"head-count-training", head_count_training_program},
      {"head-slices", head_slices_program},
      {"init", init_program},
      {"jacobian", jacobian_program},
      {"layouts", layouts_program},
      {"optimizers", optimizers_program},
      {"rounding", rounding_program},
      {"shared-head", shared_head_program},
      {"single-vs-multi", single_vs_multi_program},
      {"speed-of-layouts", speed_of_layouts_program},
      {"symmetry", symmetry_program},
      {"transplant", transplant_program},
  };
  for (const Experiment& experiment : experiments()) {
    INFO(experiment.name);
    const auto program = programs.find(experiment.name);
    REQUIRE(program != programs.end());
    CHECK(program->second() == 0);
    CHECK_THAT(experiment.program, Catch::Contains("int main() {"));
  }
}
