// Reading declarations of studies, and the errors in wrong ones.
#include "headroom_lab/study/declaration.hpp"

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/small_study.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

TEST_CASE("a declaration is read with its arms in order, and its defaults") {
  const StudyDeclaration declaration = declared(small_declaration());
  std::vector<std::string> names;
  for (const StudyArm& arm : arms_of(declaration)) names.push_back(arm.name);
  CHECK(names == std::vector<std::string>{"sensitivity", "magnitude", "slow"});
  CHECK(arms_of(declaration)[1].options == GivenSettings{{"metric", "magnitude"}});
  CHECK(arms_of(declaration)[2].options == GivenSettings{{"prune_over", 5}});
  CHECK(declaration.reference == "sensitivity");
  CHECK(declaration.contrasts.against == "random");
  CHECK(declaration.contrasts.measures == std::vector<std::string>{"validation_loss"});
  // A written declaration is read back as the same.
  CHECK(json_of(declared(json_of(declaration))) == json_of(declaration));
  const TemporaryFolder folder;
  const std::string file = folder.file("a.json", small_declaration().dump());
  CHECK(read_declaration(file).seeds == std::vector<Index>{1, 2});
  folder.file("a.json", "{");
  CHECK_THROWS_AS(read_declaration(file), FileError);
}

TEST_CASE("a wrong declaration is refused with the place and the nearest name") {
  struct Wrong {
    const char *place, *value, *words;
  };
  const std::vector<Wrong> cases{
      {"/sedes", "[1]", "\"sedes\" is not a field (did you mean seeds?)"},
      {"/seeds", "[]", "seeds must have at least one seed"},
      {"/seeds", "[1, 1]", "seeds must list each seed once"},
      {"/seeds", "[\"1\"]", "seeds[0] must be a whole number"},
      {"/name", "\"a/b\"", "name must be made of letters"},
      {"/trunk/until", "0", "trunk.until must be at least 1"},
      {"/importance/metrics", "\"\"", "importance.metrics \"\" is none of all, cheap and"},
      {"/importance/metrics", "\"path,deph\"",
       "\"deph\" is none of all, cheap and the metrics "
       "(did you mean depth?)"},
      {"/importance/examples", "0", "importance.examples must be at least 1"},
      {"/trunk/until", "30", "base.steps must be more than trunk.until, 30"},
      {"/base/layrs", "2", "base.layrs is not an option of train (did you mean layers?)"},
      {"/base/layers", "[1, 2]", "base.layers must be one value"},
      {"/base/seed", "1", "base.seed is set by the study; leave it out"},
      {"/arms/slow/keep", "1",
       "arms.keep is the number of heads to keep in all, which removal.prune sets; the minimum in "
       "every attention is at_least"},
      {"/base/prune_from", "1", "removal.prune_from is set in base, too"},
      {"/factors", "{\"steps\": [30]}", "factors.steps is set in base, too"},
      {"/factors", "{\"layers\": []}", "factors.layers must have at least one value"},
      {"/factors", "{\"layers\": [1, 1]}", "factors.layers must list 1 once"},
      {"/factors", "{\"rate\": [{}]}", "factors.rate must be a value or a list of values"},
      {"/removal/prune", "0", "removal.prune must be numbers of at least 1"},
      {"/arms", "{}", "arms must be an object with at least one arm"},
      {"/arms/metric", "[\"a\", \"a\"]", "arms.a is the name of two arms"},
      {"/arms/random", "{}", "arms.random is the name of a control"},
      {"/arms/mitric", "[\"a\"]", "arms.mitric is not an option of train (did you mean metric?)"},
      {"/arms/slow/prune", "1", "arms.prune is set in removal, too"},
      {"/only", "[{\"prune\": 5}]", "only.prune has 5, which is not one of its levels: [4,8]"},
      {"/only", "[{\"prun\": 4}]", "only.prun is not a factor of this study (did you mean prune?)"},
      {"/only", "[{\"arm\": \"none\"}]", "only.arm has \"none\""},
      {"/controls", "[\"noone\"]", "controls[0] must be one of none, random"},
      {"/controls", "[\"none\", \"none\"]", "controls must list each control once"},
      {"/reference", "\"magnitud\"", "\"magnitud\" is not an arm (did you mean magnitude?)"},
      {"/contrasts", "{\"against\": \"costliest_first\"}",
       "contrasts.against is \"costliest_first\", which is neither an arm nor a control"},
      {"/contrasts", "{\"against\": [\"random\", \"slo\"]}",
       "contrasts.against is \"slo\", which is neither an arm nor a control of this study (did you "
       "mean slow?)"},
      {"/contrasts", "{\"against\": []}", "contrasts.against must have at least one name or pair"},
      {"/contrasts", "{\"against\": {\"random\": 1}}",
       "contrasts.against must be an arm or a control, a list of them, or a list of pairs"},
      {"/contrasts", "{\"against\": [[\"slow\", \"none\", \"random\"]]}",
       "contrasts.against has [\"slow\",\"none\",\"random\"], which is no pair"},
      {"/contrasts", "{\"against\": [[\"slow\", \"slow\"]]}",
       "contrasts.against compares \"slow\" with itself"},
      {"/contrasts", "{\"measures\": [\"exact\"]}", "has \"exact\", which is not in measures"},
      {"/contrasts", "{\"correction\": \"none\"}", "contrasts.correction must be \"holm\""},
      {"/removal/pace", "{\"a\": {\"rescoer\": 1}}",
       "removal.pace.a.rescoer is not an option of train (did you mean rescore?)"},
      {"/removal/pace", "{\"a\": {\"prune_from\": 1}}",
       "removal.prune_from is set in removal.pace.a, too"},
      {"/removal/pace", "{\"a\": 1}", "removal.pace.a must be an object of options"},
      {"/removal/pace", "{\"a\": {\"prune\": 1}}", "pace.a.prune cannot be set in a named level"},
      {"/removal/layout", "{\"a\": {}}", "removal.layout has the name of an option of train"},
      {"/removal/pace", "{}", "removal.pace must have at least one level"},
      {"/only", "[{\"control\": \"costliest_first\"}]", "only.control has \"costliest_first\""},
      {"/contrasts", "{\"only\": [{\"arm\": \"x\"}]}", "contrasts.only.arm has \"x\""},
      {"/same_allocation_of", "[\"slo\"]", "\"slo\" is not an arm (did you mean slow?)"},
      {"/same_allocation_of", "[\"slow\", \"slow\"]", "must list each arm once"},
      {"/measures", "[\"exact_mach\"]",
       "has \"exact_mach\", which is not a measure (did you mean exact_match?)"},
      {"/folds", "0", "folds must be at least 1"},
      {"/folds", "5", "measures has \"validation_loss\", but folds divide the test set"},
      {"/measures", "[]", "measures must have at least one measure"},
      {"/random_draws", "0", "random_draws must be at least 1"},
      {"/random_draws", "9007199254740992", "draws make more than 20000 runs"}};
  for (const auto& [place, value, words] : cases) {
    INFO(place << " " << value);
    Record record = small_declaration();
    record[Record::json_pointer(place)] = Record::parse(value);
    CHECK_THROWS_AS(declared(record), DataError);
    CHECK_THROWS_WITH(declared(record), Contains("study.json: ") && Contains(words));
  }
  Record lengths = small_declaration();
  lengths["base"].erase("steps");
  CHECK_THROWS_WITH(declared(lengths), Contains("steps must be set in base or in factors"));
  lengths["factors"] = {{"steps", {21, 30}}};
  CHECK_THROWS_WITH(declared(lengths), Contains("base.schedule_steps must be set"));
  lengths["base"]["schedule_steps"] = 30;
  CHECK_NOTHROW(declared(lengths));
  Record uncounted = small_declaration();
  uncounted["removal"].erase("prune");
  CHECK_THROWS_WITH(declared(uncounted),
                    Contains("removal.prune must be set: it says how many heads"));
}
