// The program `headroom`, and `headroom-f64` in double.
#include "cli/frame/program.hpp"

int main(int argc, char** argv) {
  return headroom::run_program(headroom::all_commands(), argc, argv);
}
