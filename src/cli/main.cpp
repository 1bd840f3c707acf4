// The program `headroom`, and `headroom-f64` in double.
#include "cli/program.hpp"

int main(int argc, char** argv) { return headroom::run_program(argc, argv); }
