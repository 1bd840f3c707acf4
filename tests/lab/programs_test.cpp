// The small programs of the experiments, examples/lab/: each prints the result that its experiment
// explains, and returns 0 if the answer is right.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "headroom/headroom.hpp"
#include "headroom_lab/lab/lab.hpp"
#include "support/catch.hpp"

// Each is one function of this file.
#define main clipping_program
#include <examples/lab/clipping.cpp>
#undef main
namespace d2l {
#define main program
#include <examples/lab/d2l.cpp>
#undef main
}  // namespace d2l
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
namespace head_count {
#define main program
#include <examples/lab/head-count.cpp>
#undef main
}  // namespace head_count
namespace head_slices {
#define main program
#include <examples/lab/head-slices.cpp>
#undef main
}  // namespace head_slices
#define main importance_over_training_program
#include <examples/lab/importance-over-training.cpp>
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
#define main planted_heads_program
#include <examples/lab/planted-heads.cpp>
#undef main
#define main rounding_program
#include <examples/lab/rounding.cpp>
#undef main
namespace shared_head {
#define main program
#include <examples/lab/shared-head.cpp>
#undef main
}  // namespace shared_head
#define main shared_head_training_program
#include <examples/lab/shared-head-training.cpp>
#undef main
namespace single_vs_multi {
#define main program
#include <examples/lab/single-vs-multi.cpp>
#undef main
}  // namespace single_vs_multi
#define main speed_of_layouts_program
#include <examples/lab/speed-of-layouts.cpp>
#undef main
#define main symmetry_program
#include <examples/lab/symmetry.cpp>
#undef main
#define main transplant_program
#include <examples/lab/transplant.cpp>
#undef main

namespace {

/// Calls a program and returns what it prints.
std::string printed_by(int (*program)()) {
  std::fflush(stdout);
  const int terminal = dup(STDOUT_FILENO);
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  dup2(fileno(file), STDOUT_FILENO);
  const int code = program();
  std::fflush(stdout);
  dup2(terminal, STDOUT_FILENO);
  close(terminal);
  std::rewind(file);
  std::string text;
  for (int c; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  std::fclose(file);
  CHECK(code == 0);
  return text;
}

/// Splits a program at the blank line after the definition of sines().
std::pair<std::string, std::string> halves(const std::string& program) {
  const std::size_t sines = program.find(" sines(");
  REQUIRE(sines != std::string::npos);
  const std::size_t end = program.find("\n\n", sines);
  REQUIRE(end != std::string::npos);
  const std::size_t comment = program.find('\n');  // the first line, which differs
  return {program.substr(comment, end - comment), program.substr(end + 2)};
}

Index lines_in(const std::string& text) {
  std::istringstream lines(text);
  Index count = 0;
  for (std::string line; std::getline(lines, line);) count += line.empty() ? 0 : 1;
  return count;
}

}  // namespace

TEST_CASE("the programs beside PyTorch print what PyTorch prints, in 20 lines") {
  const std::map<std::string, int (*)()> programs = {{"d2l", d2l::program},
                                                     {"head-count", head_count::program},
                                                     {"head-slices", head_slices::program},
                                                     {"shared-head", shared_head::program},
                                                     {"single-vs-multi", single_vs_multi::program}};
  std::string start, pytorch_start;
  std::size_t twins = 0;
  for (const Experiment& experiment : experiments()) {
    if (!experiment.twin) continue;
    INFO(experiment.name);
    ++twins;
    // tests/lab/pytorch_twins.py compares the other side with the same record.
    CHECK(printed_by(programs.at(experiment.name)) == experiment.twin->printed);
    const auto [begin, rest] = halves(experiment.program);
    const auto [pytorch_begin, pytorch_rest] = halves(experiment.twin->pytorch);
    CHECK(lines_in(rest) <= 20);
    CHECK(lines_in(pytorch_rest) <= 20);
    if (start.empty()) {
      start = begin;
      pytorch_start = pytorch_begin;
    }
    CHECK(begin == start);
    CHECK(pytorch_begin == pytorch_start);
  }
  CHECK(twins == programs.size());
}

TEST_CASE("every experiment has a small program, which shows its answer") {
  const std::map<std::string, int (*)()> programs = {
      {"clipping", clipping_program},
      {"d2l", d2l::program},
      {"dead-parameters", dead_parameters_program},
      {"dropout-streams", dropout_streams_program},
      {"euler", euler_program},
      {"groups", groups_program},
      {"head-count", head_count::program},
      {"head-count-training", head_count_training_program},
      {"head-slices", head_slices::program},
      {"importance-over-training", importance_over_training_program},
      {"init", init_program},
      {"jacobian", jacobian_program},
      {"layouts", layouts_program},
      {"optimizers", optimizers_program},
      {"planted-heads", planted_heads_program},
      {"rounding", rounding_program},
      {"shared-head", shared_head::program},
      {"shared-head-training", shared_head_training_program},
      {"single-vs-multi", single_vs_multi::program},
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
