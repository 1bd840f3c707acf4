// The program `headroom`, and `headroom-f64` in double.
#include <set>
#include <string>

#include "cli/frame/program.hpp"
#include "cli/frame/streams.hpp"
#include "headroom_foreign/folders/model_folder.hpp"

int main(int argc, char** argv) {
  // A command may load a folder more than once.
  headroom::on_folder_warning([said = std::set<std::string>()](const std::string& line) mutable {
    if (!said.insert(line).second) return;
    headroom::print_error("warning: {}\n", headroom::shown(line, stderr));
  });
  return headroom::run_program(headroom::all_commands(), argc, argv);
}
