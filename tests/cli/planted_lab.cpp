// The program with one more experiment, whose second claim does not hold, to test broken claims.
#include "cli/frame/program.hpp"
#include "headroom_lab/lab/experiment.hpp"

int main(int argc, char** argv) {
  using namespace headroom;
  add_experiment({.name = "planted",
                  .title = "Is one two?",
                  .question = "Is it?",
                  .computed = "One is compared with one, and with two.",
                  .formulas = {"1 = 2"},
                  .defaults = {.width = 4, .heads = 2},
                  .limits = {},
                  .run = [](const LabOptions&, Notebook& book) {
                    book.table("A number", "It is one.", {"", "number"}, {{"one", 1}});
                    book.equal("one", 1, 1);
                    book.equal("one as two", 1, 2);
                    book.answer("One is two.");
                  }});
  return run_program(all_commands(), argc, argv);
}
