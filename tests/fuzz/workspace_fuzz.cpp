// States of the course that nobody wrote: refused, or kept by writing and reading them again.
#include "course/learn_workspace.hpp"

#include "fuzz/other_record.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFolder folder;
  static const Course course{
      .source = folder.path(),
      .build = folder.path(),
      .exercises = {{"01/1", "01_one", "1_first", {}}, {"01/2", "01_one", "2_second", {}}}};
  static const Record sound = Record::parse(R"({
    "version": 1, "current": "01/2", "predictions": {"01/a": "1e-8"},
    "exercises": {"01/1": {"passed": true, "given_up": false, "hints": 2, "step_time": 1.5}}
  })");
  setenv("HEADROOM_WORKSPACE", (folder / "workspace").c_str(), 1);
  FuzzedDataProvider bytes(data, size);
  const Record state = other_record(sound, bytes);
  folder.file("workspace/state.json", state.dump());
  const bool read = reads([&] {
    Workspace workspace(course);
    workspace.current(course);
    workspace.next(course, course.exercises[0]);
    workspace.save();
    const Workspace again(course);
    must(again.state.current == workspace.state.current &&
         again.state.exercises.size() == workspace.state.exercises.size() &&
         again.state.predictions == workspace.state.predictions);
  });
  must(read || state != sound);
  return 0;
}
