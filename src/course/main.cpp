// The program `headroom-learn`, which `headroom learn` becomes.
#include "cli/frame/program.hpp"
#include "course/learn.hpp"

int main(int argc, char** argv) {
  return headroom::run_program({headroom::add_course}, argc, argv);
}
