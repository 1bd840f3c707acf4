// Parts of a run go into a checkpoint and come back.
#include "headroom/io/stateful.hpp"

#include <limits>

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Contains;

namespace {

class Counter : public Stateful {
 public:
  void save_state(StateWriter to) const override {
    to.integer("count", count);
    to.rng("rng", rng.state());
    to.record("config", config);
    to.array("moments", moments);
    if (inner != nullptr) inner->save_state(to.part("inner"));
  }
  void load_state(const StateReader& from) override {
    count = from.integer("count");
    rng = Rng(from.rng("rng"));
    config = from.record("config");
    moments = from.array("moments", Shape{2});
    if (inner != nullptr) inner->load_state(from.part("inner"));
  }
  std::int64_t count = 0;
  Rng rng{1};
  Record config;
  Array moments = zeros({2});
  Counter* inner = nullptr;
};

}  // namespace

TEST_CASE("nested parts come back from a file, their 64-bit integers and random state exactly") {
  const TemporaryFolder folder;
  Counter inner, outer;
  outer.inner = &inner;
  outer.count = std::numeric_limits<std::int64_t>::max() - 1;
  inner.count = std::numeric_limits<std::int64_t>::min();
  outer.config["seed"] = std::numeric_limits<std::uint64_t>::max();
  outer.config["rate"] = 0.1;
  outer.moments = Array(Shape{2}, {Real(0.1), Real(-2)});
  outer.rng = Rng(~std::uint64_t{0}, "dropout", 7);
  for (int i = 0; i < 5; ++i) outer.rng.word();

  TensorFile file;
  outer.save_state(StateWriter(file, "run."));
  file.write(folder / "state");
  const TensorFile read = TensorFile::read(folder / "state");

  Counter new_inner, restored;
  restored.inner = &new_inner;
  restored.load_state(StateReader(read, "run."));
  CHECK(restored.count == outer.count);
  CHECK(new_inner.count == inner.count);
  CHECK(restored.config == outer.config);
  CHECK(restored.config["seed"].get<std::uint64_t>() == std::numeric_limits<std::uint64_t>::max());
  CHECK(restored.moments[0] == Real(0.1));
  CHECK(restored.rng.state() == outer.rng.state());
  CHECK(restored.rng.word() == outer.rng.word());
  CHECK(StateReader(read, "run.").tensor_names() ==
        std::vector<std::string>{"inner.moments", "inner.rng", "moments", "rng"});
  CHECK(StateReader(read, "run.").has("count"));
  CHECK(StateReader(read, "run.").has("moments"));
  CHECK_FALSE(StateReader(read, "run.").has("coun"));
}

TEST_CASE("an entry that is missing or malformed is refused by file and full name") {
  TensorFile file;
  const StateWriter writer(file, "run.");
  StateWriter(writer).text("step", "12x");
  StateWriter(writer).text("large", "9223372036854775808");
  StateWriter(writer).text("json", "{\"a\":1,\"a\":2}");
  StateWriter(writer).integers("rng", std::vector<std::int64_t>{1, 2, 3});
  StateWriter(writer).array("weight", zeros({2, 3}));
  const StateReader reader(file, "run.");
  CHECK_THROWS_WITH(reader.integer("step"),
                    "new file: \"run.step\": \"12x\" is not a 64-bit integer");
  CHECK_THROWS_WITH(reader.integer("large"), Contains("not a 64-bit integer"));
  CHECK_THROWS_WITH(reader.integer("gone"), "new file: \"run.gone\" is missing");
  CHECK_THROWS_WITH(reader.record("json"), "new file: \"run.json\": JSON key \"a\" occurs twice");
  CHECK_THROWS_WITH(reader.rng("rng"), Contains("has 4 values, not 3"));
  CHECK_THROWS_WITH(reader.array("weight", Shape{3, 2}),
                    "new file: tensor \"run.weight\": has shape [2, 3], expected [3, 2]");
  CHECK_THROWS_WITH(reader.array("gone"), Contains("tensor \"run.gone\": is missing"));
}

TEST_CASE("a name used twice and numbers that JSON cannot hold are refused when saving") {
  TensorFile file;
  StateWriter writer(file, "run.");
  writer.integer("step", 1);
  CHECK_THROWS_WITH(writer.integer("step", 2), "checkpoint: \"run.step\" exists already");
  Record record;
  for (const double number :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()}) {
    record["losses"] = {1.0, number};
    CHECK_THROWS_WITH(writer.record("log", record), Contains("NaN or an infinity"));
  }
}
