// Records of a study's jobs: written and read, and refused where they are of another form.
#include "headroom_lab/study/work.hpp"

#include "headroom/base/error.hpp"
#include "headroom/io/fields.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

TEST_CASE("the record of a job says when, where and by what it was done") {
  const TemporaryFolder folder;
  StudyWork work = work_done_now(12.5);
  work.resumed = true;
  work.command = shell_text({"headroom", "train", "--data", "a b's.txt", ""});
  CHECK(work.command == "headroom train --data 'a b'\\''s.txt' ''");
  std::string date = work.finished;
  for (char& c : date) c = c >= '0' && c <= '9' ? '0' : c;
  CHECK(date == "0000-00-00T00:00:00Z");
  for (const std::string& text : {work.machine, work.processor, work.blas, work.version}) {
    CHECK_FALSE(text.empty());
  }
  CHECK(work.threads == 1);
  const std::filesystem::path file = folder / "cell-1.json";
  CHECK_FALSE(read_work(file).has_value());
  write_work(file, work);
  const std::optional<StudyWork> read = read_work(file);
  REQUIRE(read.has_value());
  CHECK(json_of(*read) == json_of(work));
}

TEST_CASE("a record of a job that is malformed is named") {
  const TemporaryFolder folder;
  folder.file("work.json", R"({"seconds": "long"})");
  CHECK_THROWS_WITH(read_work(folder / "work.json"), Contains("work.json: seconds must be"));
  folder.file("cut.json", R"({"seconds": )");
  CHECK_THROWS_AS(read_work(folder / "cut.json"), FileError);
}
