// The learner's workspace: states that are broken.
#include "course/learn_workspace.hpp"

#include <stdlib.h>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;

TEST_CASE("a broken state of the course is refused by its field") {
  const TemporaryFolder folder;
  Course course;
  course.source = course.build = folder.path();
  setenv("HEADROOM_WORKSPACE", (folder / "workspace").c_str(), 1);
  for (const char* state :
       {R"({"version": "1", "current": "", "exercises": {}, "predictions": {}})",
        R"({"version": null})", R"({"version": 1})", R"([])",
        R"({"version": 1, "current": "", "exercises": [], "predictions": {}})",
        R"({"version": 1, "current": "", "exercises": {"01/1": 3}, "predictions": {}})"}) {
    INFO(state);
    folder.file("workspace/state.json", state);
    CHECK_THROWS_AS(Workspace(course), Error);
  }
  folder.file("workspace/state.json",
              R"({"version": 1, "current": "01/1", "exercises": {}, "predictions": {}})");
  CHECK(Workspace(course).state.current == "01/1");
  folder.file("workspace/state.json", R"({"version": 1, "current": "", "predictions": {},
    "exercises": {"01/1": {"passed": true, "given_up": false, "hints": 0, "step_time": 1.5},
                  "01/2": {"passed": true, "given_up": false, "hints": 0, "step_time": null}}})");
  CHECK(Workspace(course).state.exercises.size() == 2);  // of an earlier version
  unsetenv("HEADROOM_WORKSPACE");
}

TEST_CASE("a command sees the state that another one has saved meanwhile") {
  const TemporaryFolder folder;
  Course course;
  course.source = course.build = folder.path();
  setenv("HEADROOM_WORKSPACE", (folder / "workspace").c_str(), 1);
  Workspace first(course), second(course);
  second.state.predictions["00/a"] = "3";
  second.save();
  first.reload();
  CHECK(first.state.predictions.size() == 1);
  unsetenv("HEADROOM_WORKSPACE");
}
