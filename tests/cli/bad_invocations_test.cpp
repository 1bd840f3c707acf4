// Every usage error gives one helpful line and the exit code of its kind.
#include <algorithm>

#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

enum { usage = 2, data = 4, file = 5 };

struct Bad {
  std::vector<std::string> arguments;
  int code;
  const char* words;  // the line contains them
};

/// The program under test with arguments, in a folder.
Finished headroom_program(std::vector<std::string> arguments, const std::string& folder) {
  arguments.insert(arguments.begin(), HEADROOM_PROGRAM);
  return run_process(arguments, {}, folder);
}

/// Prepares a folder with a run, broken runs, and existing files.
void prepare(const TemporaryFolder& folder) {
  const auto make = [&](const char* name) { std::filesystem::create_directories(folder / name); };
  for (const char* name : {"run", "empty", "broken_line", "broken_config", "broken_records",
                           "list_config", "wrong_records", "wrong_kind", "wrong_lab"}) {
    make(name);
  }
  folder.file("run/config.json", "{\"task\": \"dates\"}");
  folder.file("run/metrics.jsonl", "{\"step\": 1, \"loss\": 2.0}\n{\"step\": 2, \"loss\": 1.0}\n");
  folder.file("broken_line/metrics.jsonl", "{\"step\": 1}\n{\"step\": \n");
  folder.file("broken_config/config.json", "{\"task\": ");
  folder.file("broken_records/records.json", "{]");
  folder.file("list_config/config.json", "[1, 2]");
  folder.file("wrong_records/records.json", "{\"title\": 3}");
  folder.file("wrong_lab/records.json", "{\"kind\": \"lab\", \"title\": \"x\"}");
  folder.file("wrong_kind/records.json",
              "{\"title\": \"x\", \"heads\": [{\"kind\": \"side\", \"layer\": 0, \"head\": 0}]}");
  folder.file("taken.html", "precious");
  folder.file("a_file", "");
}

const std::vector<Bad> bad_invocations = {
    // commands
    {{"reprot"}, usage, "unknown command \"reprot\" (did you mean report?)"},
    {{"docter"}, usage, "unknown command \"docter\" (did you mean doctor?)"},
    {{"benhc"}, usage, "unknown command \"benhc\" (did you mean bench?)"},
    {{"xyzzy"}, usage, "unknown command \"xyzzy\""},
    {{"Doctor"}, usage, "unknown command \"Doctor\" (did you mean doctor?)"},
    {{""}, usage, "unknown command \"\""},
    {{"doctor\n"}, usage, "unknown command \"doctor\\x0A\" (did you mean doctor?)"},
    {{"xyzzy", "--json"}, usage, "unknown command \"xyzzy\""},
    {{"--versoin"}, usage, "has no option --versoin (did you mean --version?)"},
    {{"-x"}, usage, "has no option -x"},
    {{"--json", "doctor"}, usage, "has no option --json"},
    {{"doctor", "bench"}, usage, "doctor takes no argument \"bench\""},
    // doctor
    {{"doctor", "now"}, usage, "doctor takes no argument \"now\""},
    {{"doctor", "--jsn"}, usage, "doctor has no option --jsn (did you mean --json?)"},
    {{"doctor", "--jsn=1"}, usage, "doctor has no option --jsn (did you mean --json?)"},
    {{"doctor", "--json=maybe"}, usage, "--json"},
    {{"doctor", "-q"}, usage, "doctor has no option -q"},
    {{"doctor", "--thread", "2"}, usage, "doctor has no option --thread (did you mean --threads?)"},
    {{"doctor", "--threads"}, usage, "--threads needs a value"},
    {{"doctor", "--threads", "0"}, usage, "--threads: 0 is less than 1"},
    {{"doctor", "--threads", "-3"}, usage, "--threads: -3 is less than 1"},
    {{"doctor", "--threads", "two"}, usage, "--threads: \"two\" is not a whole number"},
    {{"doctor", "--threads", "1.5"}, usage, "--threads: \"1.5\" is not a whole number"},
    {{"doctor", "--threads", ""}, usage, "--threads"},
    {{"doctor", "--threads", "99999999999999999999999"}, usage, "--threads"},
    {{"doctor", "--threads", "1", "2"}, usage, "doctor takes no argument \"2\""},
    {{"doctor", "--threads", "1", "--threads", "2"}, usage, "--threads"},
    // attend
    {{"attend"}, usage, "--input is required"},
    {{"attend", "--inptu", "abc"}, usage, "attend has no option --inptu (did you mean --input?)"},
    {{"attend", "abc", "--input", "abc"}, usage, "attend takes no argument \"abc\""},
    {{"attend", "--input", "abc", "--model", "nowhere"}, file, "--model nowhere does not exist"},
    {{"attend", "--input", "abc", "--model", "run"}, file, "run: has no checkpoint"},
    {{"attend", "--input", "abc", "--kind", "self"}, usage, "not one of encoder, decoder, cross"},
    {{"attend", "--input", "abc", "--layer", "-1"}, usage, "--layer: -1 is less than 0"},
    {{"attend", "--input", "abc", "--head", "two"}, usage, "\"two\" is not a whole number"},
    {{"attend", "--input", "abc", "--length", "0"}, usage, "--length: 0 is less than 1"},
    // bench
    {{"bench", "steps"},
     usage,
     "\"steps\" is not one of step, generate, encode, memory, heads (did you mean step?)"},
    {{"bench", "step", "step"}, usage, "bench takes no argument \"step\""},
    {{"bench", "--case", "nan"}, usage, "\"nan\" is not one of nano, small, medium, base"},
    {{"bench", "--case", "huge"}, usage, "\"huge\" is not one of"},
    {{"bench", "--case"}, usage, "--case needs a value"},
    {{"bench", "--layout", "fussed"}, usage, "(did you mean fused?)"},
    {{"bench", "--case", "nano", "--case", "base"}, usage, "--case can be given only once"},
    {{"bench", "--steps", "0"}, usage, "--steps: 0 is less than 1"},
    {{"bench", "--steps", "many"}, usage, "\"many\" is not a whole number"},
    {{"bench", "generate", "--telemetry", "10"}, usage, "--telemetry is only available for"},
    {{"bench", "step", "--telemetry", "-1"}, usage, "--telemetry: -1 is less than 0"},
    {{"bench", "generate", "--batch", "0"}, usage, "--batch: 0 is less than 1"},
    {{"bench", "memory", "--profile"}, usage, "--profile is not available for \"bench memory\""},
    {{"bench", "generate", "--length", "1"}, usage, "--length 1 leaves nothing to generate"},
    {{"bench", "heads", "--profile"}, usage, "bench heads measures one layer; leave out --profile"},
    {{"bench", "step", "--heads", "3"}, usage, "--heads 3 must divide --width 128 (try 2 or 4)"},
    {{"bench", "step", "--width", "0"}, usage, "--width: 0 is less than 1"},
    {{"bench", "--threds", "2"}, usage, "bench has no option --threds (did you mean --threads?)"},
    {{"bench", "--steps", "99999999999999999999"}, usage, "is too large"},
    // graph
    {{"graph", "all"}, usage, "graph takes no argument \"all\""},
    {{"graph", "--layout", "fussed"}, usage, "(did you mean fused?)"},
    {{"graph", "--heads", "5"}, usage, "--heads 5 must divide --width 12 (try 4 or 6)"},
    {{"graph", "--heads", "0"}, usage, "--heads: 0 is less than 1"},
    {{"graph", "--tokens", "x"}, usage, "\"x\" is not a whole number"},
    {{"graph", "--out", "x.dot"}, usage, "the file name must end in .svg (.dot needs --dot)"},
    {{"graph", "--out", "x.png"}, usage, "the file name must end in .svg (.dot needs --dot)"},
    {{"graph", "--dot", "--out", "x.svg"}, usage, "the file name must end in .dot with --dot"},
    {{"graph", "--dot", "--out", "a_file"}, file, "a_file"},
    {{"graph", "--dot", "--out", "nowhere/x.dot"}, file, "nowhere/x.dot"},
    // inspect
    {{"inspect", "run"}, usage, "inspect takes no argument \"run\""},
    {{"inspect", "--modell", "run"}, usage, "(did you mean --model?)"},
    {{"inspect", "--model", "nowhere"}, file, "--model nowhere does not exist"},
    {{"inspect", "--model", "run"}, file, "run: has no checkpoint"},
    {{"inspect", "--model", "a_file"}, file, "a_file"},
    {{"inspect", "--model", "taken.html"}, file, "taken.html"},
    // lab
    {{"lab", "hed-slices"}, usage, "no experiment \"hed-slices\" (did you mean head-slices?)"},
    {{"lab", "xyzzy"}, usage, "no experiment \"xyzzy\" (lab list shows all)"},
    {{"lab", "d2l", "all"}, usage, "lab takes no argument \"all\""},
    {{"lab", "ask", "zebra", "crossing"}, usage, "no experiment fits \"zebra crossing\" (lab list"},
    {{"lab", "answer", "layouts"}, usage, "lab answer: layouts has no program in PyTorch; these"},
    {{"lab", "answer", "d2", "--out", "x"}, usage, "no experiment \"d2\" (did you mean d2l?)"},
    {{"lab", "answer", "--heads", "2"}, usage, "lab answer takes no --width and no --heads"},
    {{"lab", "head-slices", "--heads", "5"}, usage, "heads 5 must divide width 768 (try 4 or 6)"},
    {{"lab", "head-count", "--heads", "1"}, usage, "heads 1 is not in 2 to 32"},
    {{"lab", "d2l", "--width", "99999"}, usage, "width 99999 is not in 1 to 1024"},
    {{"lab", "d2l", "--width", "0"}, usage, "--width: 0 is less than 1"},
    {{"lab", "all", "--width", "10"}, usage, "must divide width 10"},
    {{"lab", "d2l", "--precision", "half"}, usage, "\"half\" is not one of double, float, both"},
    {{"lab", "d2l", "--presicion", "both"}, usage, "lab has no option --presicion (did you mean"},
    {{"lab", "d2l", "--out", "run"}, usage, "run: the folder is not empty"},
    {{"lab", "d2l", "--out", "a_file"}, usage, "a_file: is a file"},
    // learn
    {{"learn", "chekc", "04/1"}, usage, "no exercise or command \"chekc\" (did you mean check?)"},
    {{"learn", "04/1", "05/1"}, usage, "learn takes no argument \"05/1\""},
    {{"learn", "predict", "04/1"}, usage, "VALUE is required"},
    // importance, prune
    {{"importance", "--metric", "foo"},
     usage,
     "is none of all, cheap and the metrics (see --help)"},
    {{"prune", "--model", "a_file", "--keep", "3"}, file, "a_file: is no checkpoint of a run"},
    // report
    {{"report"}, usage, "no trained model under runs"},
    {{"report", "run"}, usage, "report takes no argument \"run\""},
    {{"report", "--model"}, usage, "--model needs a value"},
    {{"report", "--modle", "run"}, usage, "report has no option --modle (did you mean --model?)"},
    {{"report", "--model", "nowhere"}, file, "--model nowhere does not exist"},
    {{"report", "--model", "empty"}, file, "empty: no run was written here"},
    {{"report", "--model", "a_file"}, file, "a_file: no run was written here"},
    {{"report", "--model", "run", "--out", "taken.html"}, file, "--out taken.html exists (choose"},
    {{"report", "--model", "run", "--out", "nowhere/page.html"}, file, "nowhere/page.html"},
    {{"report", "--model", "run", "--out", "empty", "--force"}, file, "empty"},
    {{"report", "--model", "broken_line"}, data, "metrics.jsonl:2"},
    {{"report", "--model", "broken_config"}, file, "config.json"},
    {{"report", "--model", "list_config"}, data, "config.json must be a JSON object"},
    {{"report", "--model", "broken_records"}, file, "records.json"},
    {{"report", "--model", "wrong_records"}, data, "records.json: title must be a text, not 3"},
    {{"report", "--model", "wrong_lab"},
     data,
     "records.json: \"name\" is missing; run the experiment again to renew its records"},
    {{"report", "--model", "wrong_kind"},
     data,
     "heads[0].kind must be one of encoder, decoder, cross, not \"side\""},
};

}  // namespace

TEST_CASE("every bad invocation gets one helpful line and its exit code") {
  const TemporaryFolder folder;
  prepare(folder);
  CHECK(bad_invocations.size() >= 40);
  for (const Bad& bad : bad_invocations) {
    std::string typed = "headroom";
    for (const std::string& argument : bad.arguments) typed += " '" + argument + "'";
    INFO(typed);
    const Finished finished = headroom_program(bad.arguments, folder.path());
    CHECK(finished.code == bad.code);
    CHECK_THAT(finished.err, StartsWith("error: ") && EndsWith("\n") && Contains(bad.words));
    CHECK(std::count(finished.err.begin(), finished.err.end(), '\n') == 1);
    CHECK(finished.out == "");
  }
}

TEST_CASE("what stood in the way is still there") {
  const TemporaryFolder folder;
  prepare(folder);
  headroom_program({"report", "--model", "run", "--out", "taken.html"}, folder.path());
  CHECK(std::filesystem::file_size(folder / "taken.html") == std::string("precious").size());
}
