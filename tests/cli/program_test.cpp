// The program with correct arguments.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "headroom/base/text.hpp"
#include "headroom/train/checkpoint.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;

namespace {
Finished headroom_program(std::vector<std::string> arguments, const std::string& folder = "",
                          const std::vector<std::string>& environment = {}) {
  arguments.insert(arguments.begin(), HEADROOM_PROGRAM);
  return run_process(arguments, environment, folder);
}
}  // namespace

TEST_CASE("without arguments the program says what it can do") {
  const Finished finished = headroom_program({});
  CHECK(finished.code == 0);
  CHECK(finished.err == "");
  for (const char* command :
       {"demo", "train", "translate", "sample", "attend", "report", "inspect", "doctor", "bench"}) {
    CHECK_THAT(finished.out, Contains(std::string("headroom") +
                                      (sizeof(headroom::Real) == 8 ? "-f64 " : " ") + command));
  }
}

TEST_CASE("hints can be typed as they are printed, also when the launcher started the program") {
  const std::vector<std::string> launched = {"HEADROOM_LAUNCHER=./headroom"};
  const Finished overview = headroom_program({}, "", launched);
  CHECK(overview.code == 0);
  for (const char* line : {"  ./headroom demo ", "  ./headroom test ", "  ./headroom parity "}) {
    CHECK_THAT(overview.out, Contains(line));
  }
  CHECK_THAT(headroom_program({}).out, !Contains("./headroom") && !Contains("parity"));
  CHECK_THAT(headroom_program({"train", "--help"}, "", launched).out,
             Contains("./headroom train --task reverse"));
  CHECK_THAT(headroom_program({"tset"}, "", launched).err, Contains("did you mean test?"));
  CHECK_THAT(headroom_program({"paritty"}).err, !Contains("did you mean"));
}

TEST_CASE("help and version end well, for the program and for every command it lists") {
  CHECK_THAT(headroom_program({"--version"}).out, Contains("headroom"));
  const Finished help = headroom_program({"--help"});
  CHECK(help.code == 0);
  CHECK_THAT(help.out, Contains("Exit codes:\n  0  success\n"));
  for (const char* command :
       {"demo", "train", "translate", "sample", "attend", "report", "inspect", "doctor", "bench"}) {
    CHECK_THAT(help.out, Contains(command));
    const Finished own = headroom_program({command, "--help"});
    CHECK(own.code == 0);
    CHECK(own.err == "");
    CHECK_THAT(own.out, Contains(std::string(command) + " [OPTIONS]"));
  }
}

TEST_CASE("help COMMAND is COMMAND --help") {
  CHECK(headroom_program({"help"}).out == headroom_program({"--help"}).out);
  const Finished train = headroom_program({"help", "train"});
  CHECK(train.code == 0);
  CHECK(train.out == headroom_program({"train", "--help"}).out);
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"help", "trian"}, {"trian", "--help"}}) {
    const Finished finished = headroom_program(wrong);
    CHECK(finished.code == 2);
    CHECK(finished.err == "error: unknown command \"trian\" (did you mean train?)\n");
  }
}

TEST_CASE("help fits the width that COLUMNS gives, but at most 100 columns") {
  for (const char* command : {"train", "importance", "prune", "study", "learn", ""}) {
    std::vector<std::string> arguments{command, "--help"};
    if (arguments[0].empty()) arguments.erase(arguments.begin());
    std::vector<std::string> words_at_80;
    for (const headroom::Index width : {80, 20, 40, 60, 100, 300}) {
      INFO(command << " --help in " << width << " columns");
      const Finished help = headroom_program(arguments, "", {fmt::format("COLUMNS={}", width)});
      REQUIRE(help.code == 0);
      headroom::Index widest = 0;
      std::istringstream lines(help.out);
      for (std::string line; std::getline(lines, line);) {
        // Only a word that is wider itself may be wider.
        const bool is_word = line.find(' ', line.find_first_not_of(' ')) == std::string::npos;
        if (!is_word) widest = std::max(widest, headroom::display_width(line));
      }
      const headroom::Index most = std::min<headroom::Index>(width, 100);
      CHECK(widest <= most);
      if (std::string(command) == "train") CHECK(widest > most - 12);
      std::istringstream text(help.out);
      const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
      if (words_at_80.empty()) words_at_80 = words;
      CHECK(words == words_at_80);
    }
  }
  const std::string usual = headroom_program({"train", "--help"}).out;
  for (const char* columns : {"COLUMNS=", "COLUMNS=many"}) {
    CHECK(headroom_program({"train", "--help"}, "", {columns}).out == usual);
  }
}

TEST_CASE("doctor names processor, BLAS, precision and Chart.js") {
  const Finished finished = headroom_program({"doctor", "--json", "--threads", "1"});
  REQUIRE(finished.code == 0);
  const json facts = json::parse(finished.out);
  CHECK(facts["threads"] == 1);
  CHECK(facts["precision"] == (sizeof(headroom::Real) == 8 ? "double" : "float"));
  CHECK(facts["blas"].get<std::string>() != "");
  CHECK_THAT(facts["matrix product"].get<std::string>(), Contains("GFLOP/s"));
  const Finished without = headroom_program({"doctor"}, "", {"HEADROOM_CHART_JS=/nowhere"});
  CHECK_THAT(without.out, Contains("apt-get install libjs-chart.js"));
}

TEST_CASE("report writes the page of a run, over its own old page, elsewhere only with force") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "runs/one");
  folder.file("runs/one/config.json", "{}");
  folder.file("runs/one/checkpoint.safetensors", "");  // report does not read it
  folder.file("runs/one/metrics.jsonl",
              "{\"step\": 1, \"loss\": 2.0}\n{\"step\": 2, \"loss\": 1.0}\n");
  const std::vector<std::string> chart = {"HEADROOM_CHART_JS=" +
                                          folder.file("chart.js", "/* */").string()};
  for (int i = 0; i < 2; ++i) {
    const Finished finished = headroom_program({"report"}, folder.path(), chart);
    CHECK(finished.code == 0);
    CHECK(finished.out == "runs/one/report.html\n");
  }
  CHECK(std::filesystem::exists(folder / "runs/one/report.html"));
  const std::vector<std::string> elsewhere = {"report", "--model", "runs/one", "--out",
                                              "page.html"};
  CHECK(headroom_program(elsewhere, folder.path(), chart).code == 0);
  CHECK(headroom_program(elsewhere, folder.path(), chart).code == 5);
  std::vector<std::string> forced = elsewhere;
  forced.push_back("--force");
  CHECK(headroom_program(forced, folder.path(), chart).code == 0);
}

TEST_CASE("inspect tells parameters, living heads and steps of a checkpoint") {
  using namespace headroom;
  const TemporaryFolder folder;
  Rng rng(1, "init");
  ModelConfig config;
  config.block = {.width = 16, .heads = 4};
  config.source_vocabulary = config.target_vocabulary = 10;
  Seq2Seq model(config, rng);
  prune(model, std::vector<HeadId>{{AttentionKind::cross, 1, 2}});
  Checkpoint checkpoint;
  checkpoint.add("model", model);
  checkpoint.save(folder / "checkpoint.safetensors");

  const Finished text = headroom_program({"inspect", "--model", folder.path()});
  REQUIRE(text.code == 0);
  CHECK_THAT(text.out, Contains("cross heads") && Contains("o o o o | o o x o"));
  CHECK_THAT(text.out, Contains("encoder.layers.0.self_attn"));
  const Finished finished = headroom_program({"inspect", "--json", "--model", folder.path()});
  REQUIRE(finished.code == 0);
  const json facts = json::parse(finished.out);
  CHECK(facts["parameters"] == count_parameters(model));
  CHECK(facts["removed"] == json::array({"cross 1.2"}));
}

TEST_CASE("bench measures the case it is asked for, with the keys of its JSON line") {
  const auto keys_of = [](const json& line) {
    std::vector<std::string> keys;
    for (const auto& item : line.items()) keys.push_back(item.key());
    return keys;
  };
  const Finished step =
      headroom_program({"bench", "step", "--case", "nano", "--steps", "1", "--json"});
  REQUIRE(step.code == 0);
  const json line = json::parse(step.out);
  CHECK(keys_of(line) == std::vector<std::string>{"blas", "case", "gflops", "layout", "min_ms",
                                                  "ms", "params", "peak_bytes", "threads",
                                                  "tok_s"});
  CHECK(line["params"] == 809856);
  const auto said = [](const char* threads) {
    return headroom_program({"bench", "encode", "--case", "nano", "--steps", "1", "--layers", "1",
                             "--threads", threads})
        .out;
  };
  CHECK_THAT(said("1"), Contains("layout, 1 thread, "));
  CHECK_THAT(said("2"), Contains("layout, 2 threads, "));
  CHECK(line["ms"] > 0);
  for (const char* layout : {"fused", "separate"}) {
    const Finished written = headroom_program(
        {"bench", "generate", "--case", "nano", "--steps", "1", "--layout", layout, "--json"});
    REQUIRE(written.code == 0);
    CHECK(json::parse(written.out)["tok_s"] > 0);
  }
  const Finished profiled =
      headroom_program({"bench", "step", "--case", "nano", "--steps", "2", "--profile", "--json",
                        "--length", "32", "--batch", "2"});
  REQUIRE(profiled.code == 0);
  double shares = 0, backward = 0, forward = 0;
  const json profile = json::parse(profiled.out)["profile"];
  for (const json& row : profile) {
    shares += row["share"].get<double>();
    CHECK(row["of_machine"] <= 1);
    if (row["operation"] == "linear") forward = row["gflops"];
    if (row["operation"] == "linear, backward") backward = row["gflops"];
  }
  CHECK(std::abs(shares - 1) < 1e-6);
  CHECK(forward > 0);
  CHECK(backward > 0);
  const Finished watched =
      headroom_program({"bench", "step", "--case", "nano", "--steps", "2", "--profile", "--json",
                        "--length", "32", "--batch", "2", "--telemetry", "2"});
  REQUIRE(watched.code == 0);
  const json with_heads = json::parse(watched.out);
  double telemetry = 0;
  for (const json& row : with_heads["profile"]) {
    if (row["operation"] != "telemetry" && row["operation"] != "attention rows") continue;
    CHECK(row["calls"] == (row["operation"] == "telemetry" ? 1 : 2));  // of the nano's 4 layers
    telemetry += row["share"].get<double>();
  }
  CHECK(telemetry > 0);
  CHECK(with_heads["telemetry_share"] == telemetry);
  const Finished longer =
      headroom_program({"bench", "step", "--case", "nano", "--steps", "1", "--json", "--layers",
                        "1", "--length", "32", "--batch", "2"});
  REQUIRE(longer.code == 0);
  CHECK(json::parse(longer.out)["length"] == 32);
  CHECK(json::parse(longer.out)["params"] < line["params"]);
  const Finished memory = headroom_program(
      {"bench", "memory", "--case", "nano", "--json", "--length", "32", "--batch", "2"});
  REQUIRE(memory.code == 0);
  CHECK(json::parse(memory.out)["working_bytes"] > 1e6);
  const Finished encoded = headroom_program({"bench", "encode", "--case", "nano", "--steps", "1"});
  CHECK(encoded.code == 0);
  CHECK_THAT(encoded.out, Contains("nano"));
}

TEST_CASE("bench heads measures parts, passes and threads, beside the ratio of the arithmetic") {
  const Finished done =
      headroom_program({"bench", "heads", "--width", "16", "--heads", "4", "--length", "8",
                        "--batch", "2", "--steps", "1", "--json"});
  REQUIRE(done.code == 0);
  std::vector<std::string> measured;
  std::istringstream lines(done.out);
  for (std::string text; std::getline(lines, text);) {
    const json table = json::parse(text);
    measured.push_back(fmt::format("{} {} {}", table["part"].get<std::string>(),
                                   table["pass"].get<std::string>(), table["threads"].get<int>()));
    const json& variants = table["variants"];
    REQUIRE(variants.size() == 5);
    CHECK(variants[2]["kept"] == 2);
    CHECK(variants[4]["masked"] == true);
    CHECK(variants[4]["ceiling"] == 1);
    // Per token: 8 x 16 x 16 + 4 x 8 x 16 = 2560 in the attention, 16 x 16 x 16 in the rest.
    const bool layer = table["part"] == "layer";
    const double ceiling = layer ? (2560.0 + 4096) / (1280 + 4096) : 2;
    CHECK(std::abs(variants[2]["ceiling"].get<double>() - ceiling) < 1e-12);
    REQUIRE(table["lines"].size() == 1);
    CHECK(table["lines"][0]["batch"] == 2);
    for (const json& ms : table["lines"][0]["ms"]) CHECK(ms.get<double>() > 0);
  }
  CHECK(measured == std::vector<std::string>{"attention forward 1", "attention training step 1",
                                             "layer forward 1", "layer training step 1",
                                             "attention forward 2", "attention training step 2",
                                             "layer forward 2", "layer training step 2"});
  const Finished text =
      headroom_program({"bench", "heads", "--width", "16", "--heads", "4", "--length", "8",
                        "--batch", "1", "--steps", "1", "--threads", "1"});
  REQUIRE(text.code == 0);
  CHECK_THAT(text.out, Contains("layer, training step, 1 thread\n"));
  CHECK_THAT(text.out, Contains("2 masked"));
  CHECK_THAT(text.out, !Contains("2 threads"));
}

#ifndef __clang__  // clang's OpenMP has another setting
TEST_CASE("threads spin for a short time only, unless the user says for how long") {
  const std::string call = " OMP_DISPLAY_ENV=verbose " + std::string(HEADROOM_PROGRAM) + " doctor";
  const auto settings = [&](const std::string& environment) {
    return run_process({"sh", "-c", "env -u OMP_WAIT_POLICY " + environment + call}).err;
  };
  CHECK_THAT(settings("-u GOMP_SPINCOUNT"), Contains("GOMP_SPINCOUNT = '3000'"));
  const std::string own = settings("GOMP_SPINCOUNT=70");
  CHECK_THAT(own, Contains("GOMP_SPINCOUNT = '70'"));
  CHECK_THAT(own, !Contains("'3000'"));
}
#endif

#ifdef __x86_64__
TEST_CASE(
    "OpenBLAS has no kernels from before AVX on a processor with AVX2, unless it is told to") {
  const std::string call = " OPENBLAS_VERBOSE=2 " + std::string(HEADROOM_PROGRAM) + " doctor";
  const auto last_core = [&](const std::string& environment) {
    const std::string said = run_process({"sh", "-c", "env " + environment + call}).err;
    const std::size_t at = said.rfind("Core: ");
    return at == said.npos ? "none" : said.substr(at + 6, said.find('\n', at) - at - 6);
  };
  const std::string core = last_core("-u OPENBLAS_CORETYPE");
  if (core == "none") return;  // another BLAS
  if (__builtin_cpu_supports("avx2")) CHECK(core != "Prescott");
  CHECK(last_core("OPENBLAS_CORETYPE=Prescott") == "Prescott");
}
#endif

TEST_CASE("output that cannot be written is an error") {
  const Finished finished =
      run_process({"sh", "-c", std::string(HEADROOM_PROGRAM) + " doctor >/dev/full"});
  CHECK(finished.code == 5);
  CHECK(finished.err == "error: standard output could not be written (is the disk full?)\n");
}
