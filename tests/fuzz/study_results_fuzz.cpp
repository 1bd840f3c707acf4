// Folders of studies whose files nobody wrote: refused, or read, summarised, made into a page and
// used for further runs.
#include "fuzz/other_checkpoint.hpp"
#include "fuzz/small_model.hpp"
#include "headroom_lab/report/study.hpp"
#include "headroom_lab/study/study.hpp"
#include "study/commands.hpp"
#include "support/small_study.hpp"

using namespace headroom;

namespace {

StudyDeclaration declaration() {
  Record record = small_declaration();
  record["seeds"] = {1, 2};
  record["removal"]["prune"] = 1;
  record["random_draws"] = 1;
  record["arms"] = {{"slow", {{"prune_over", 5}}}};
  record["controls"] = {"none", "random", "same_allocation", "costliest_first"};
  record["measures"] = {"validation_loss", "test.exact_match", "cut.validation_loss"};
  return declared(record);
}

/// Heads of the small model as summary.json and importance.json list them.
Record heads(bool removed) {
  Record all = Record::array();
  for (const char* kind : {"encoder", "decoder", "cross"}) {
    for (int head = 0; head < 2; ++head) {
      all.push_back({{"kind", kind}, {"layer", 0}, {"head", head}});
      if (removed) {
        all.back()["removed_at"] = head == 1 && all.size() == 2 ? Record(21) : Record();
        all.back()["importance"] = 0.5;
        all.back()["cost"] = 0.25;
      }
    }
  }
  return all;
}

/// The JSON of all files of a study that is done, as lists of lines.
std::map<std::string, std::vector<Record>> sound_files(const StudyPlan& plan) {
  std::map<std::string, std::vector<Record>> files;
  const Record alive = {"encoder 0.0", "decoder 0.0", "decoder 0.1", "cross 0.0"};
  for (const TrunkPlan& trunk : plan.trunks) {
    files["trunks/" + trunk.key + "/summary.json"] = {{{"alive", alive}}};
    const Record scores = {1, 2, 3, 4, 5, 6};
    const Record game = {{"title", "encoder"}, {"regret", {{"sensitivity", {nullptr, 0.5, 0.1}}}}};
    files["trunks/" + trunk.key + "/importance.json"] = {
        {{"heads", heads(false)},
         {"metrics",
          {{{"name", "leave_one_out"}, {"keep_low", false}, {"scores", scores}},
           {{"name", "sensitivity"}, {"keep_low", true}, {"scores", scores}}}},
         {"games", Record::array({game})}}};
  }
  for (const StudyCell& cell : plan.cells) {
    const Record event = {{"step", 21},
                          {"by", "sensitivity"},
                          {"removed", {"encoder 0.1"}},
                          {"regrown", Record::array()},
                          {"heads", {"encoder 0.1"}},
                          {"scores", {0.5}}};
    files["cells/" + cell.key + "/summary.json"] = {
        {{"steps", 30},
         {"parameters", 100},
         {"alive", alive},
         {"heads", heads(true)},
         {"timeline", Record::array({event})},
         {"after_cut",
          {{"step", 21},
           {"heads_alive", 5},
           {"validation", {{"validation_loss", 1.5}}},
           {"test", Record::object()}}},
         {"test", {{"exact_match", 0.5}, {"test_loss", 1.25}}}}};
    files["cells/" + cell.key + "/metrics.jsonl"] = {
        {{"step", 20}, {"loss", 2}, {"validation_loss", 2.5}},
        {{"step", 30}, {"loss", 1}, {"validation_loss", 1.5}}};
  }
  return files;
}

std::string text_of(const std::vector<Record>& lines) {
  std::string text;
  for (const Record& line : lines) text += line.dump() + '\n';
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFolder folder;
  static const StudyDeclaration study = declaration();
  static const StudyPlan plan = plan_of(study);
  static const auto sound = [] {
    auto files = sound_files(plan);
    for (const auto& [name, lines] : files) folder.file(name, text_of(lines));
    for (const TrunkPlan& trunk : plan.trunks) {
      save_small_model({}, {}, StudyFolder{folder.path()}.checkpoint(trunk.key));
    }
    return files;
  }();
  FuzzedDataProvider bytes(data, size);
  std::map<std::string, std::vector<Record>> changed;
  while (bytes.remaining_bytes() > 0) {
    const auto file = std::next(
        sound.begin(), bytes.ConsumeIntegralInRange<std::ptrdiff_t>(0, std::ssize(sound) - 1));
    std::vector<Record>& lines = changed.insert(*file).first->second;
    change_some_member(lines[bytes.ConsumeIntegralInRange<std::size_t>(0, lines.size() - 1)],
                       bytes);
  }
  for (const auto& [name, lines] : changed) folder.file(name, text_of(lines));
  const bool read = reads([&] { study_page(results_of(study, plan, folder.path()), "chart();"); });
  bool continues = true;
  for (const StudyCell& cell : plan.cells) {
    continues = reads([&] { cell_command(cell, study, StudyFolder{folder.path()}); }) && continues;
  }
  must((read && continues) || !changed.empty());
  for (const auto& [name, lines] : changed) folder.file(name, text_of(sound.at(name)));
  return 0;
}
