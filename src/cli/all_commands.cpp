// The commands of headroom.
#include "cli/frame/command.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

AddCommands all_commands() {
  return {add_demo,       add_lab,    add_train,    add_study,   add_predict, add_evaluate,
          add_translate,  add_sample, add_attend,   add_report,  add_graph,   add_importance,
          add_prune,      add_runs,   add_tokenize, add_inspect, add_export,  add_convert,
          add_completion, add_man,    add_learn,    add_doctor,  add_bench};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
