// Declarations of studies that nobody wrote: refused, or planned.
#include "fuzz/other_record.hpp"
#include "headroom_lab/study/plan.hpp"
#include "support/small_study.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Record plain = small_declaration();
  static const Record rich = [] {
    Record record = small_declaration();
    record["base"].erase("steps");
    record["base"]["schedule_steps"] = 40;
    record["trunk"]["factors"] = {{"layers", {1, 2}}};
    record["factors"] = {{"steps", {30, 40}}};
    record["removal"]["pace"] = {{"at once", {{"prune_schedule", "one_shot"}}},
                                 {"slowly", {{"prune_schedule", "gradual"}}}};
    record["only"] = {{{"arm", "slow"}, {"steps", {40}}}, {{"arm", "slow"}, {"pace", {"slowly"}}}};
    record["same_allocation_of"] = {"slow", "sensitivity"};
    record["allocation_draws"] = 2;
    record["contrasts"] = {{"against", "none"}, {"only", {{{"measure", {"exact_match"}}}}}};
    record["importance"] = {{"metrics", "all"}, {"oracle", true}};
    return record;
  }();
  FuzzedDataProvider bytes(data, size);
  const Record& sound = bytes.ConsumeBool() ? plain : rich;
  // As a file has it: JSON has no number that is not finite.
  const Record record = Record::parse(other_record(sound, bytes).dump());
  const bool planned = reads([&] {
    const StudyDeclaration declaration = declared(record);
    const StudyPlan plan = plan_of(declaration);
    for (const StudyCell& cell : plan.cells) steps_of(cell, declaration);
    must(json_of(declared(json_of(declaration))) == json_of(declaration));
  });
  must(planned || record != sound);
  return 0;
}
