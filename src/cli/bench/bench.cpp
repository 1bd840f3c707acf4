// `headroom bench`: the speed of training and inference on this machine.
#include "cli/bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>

#include "cli/bench/bench_heads.hpp"
#include "cli/frame/command.hpp"
#include "cli/options.hpp"
#include "cli/timing/machine_speed.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/op_scope.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/text.hpp"
#include "headroom/ops/blas.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom_lab/blocks/table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

BlockConfig BenchCase::block(Layout layout) const {
  return {.width = width, .heads = heads, .activation = Activation::gelu, .layout = layout};
}

ModelConfig BenchCase::model(Layout layout) const {
  return {.kind = ModelKind::language_model,
          .block = block(layout),
          .layers = layers,
          .source_vocabulary = vocabulary,
          .longest = length,
          .positions = PositionKind::learned,
          .tied_output = true};
}

const std::vector<BenchCase>& bench_cases() {
  static const std::vector<BenchCase> cases = {{"nano", 4, 4, 128, 64, 12, 65},
                                               {"small", 6, 8, 256, 128, 8, 256},
                                               {"medium", 6, 8, 512, 256, 4, 512},
                                               {"base", 4, 12, 768, 128, 4, 1024}};
  return cases;
}

Times time_work(Index warm_up, Index repetitions, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point warm = Clock::now() + std::chrono::milliseconds(warm_up > 0 ? 200 : 0);
  for (Index i = 0; i < warm_up || Clock::now() < warm; ++i) work();
  std::vector<double> times;
  for (Index i = 0; i < repetitions; ++i) {
    const Clock::time_point begin = Clock::now();
    work();
    const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
    times.push_back(time.count());
  }
  std::sort(times.begin(), times.end());
  const double sum = std::accumulate(times.begin(), times.end(), 0.0);
  return {median(times), times.front(), sum / double(times.size())};
}

Record profile_of(Index repetitions, const std::function<void()>& work) {
  const double flops_per_ms = product_speed(1024) * 1e6;
  std::map<Index, double> speeds;
  // The speed of memory, or of the cache that holds the bytes of one call.
  const auto bytes_per_ms = [&speeds](double bytes_of_call) {
    const Index size = sum_size(bytes_of_call);
    if (!speeds.contains(size)) speeds[size] = memory_speed(size) * 1e6;
    return speeds[size];
  };
  set_profiling(true);
  const Times times = time_work(0, repetitions, work);
  set_profiling(false);
  const auto count = double(repetitions);
  Record rows = Record::array();
  const auto add = [&](const std::string& name, double calls, double ms, double flops,
                       double bytes) {
    const double of_memory = bytes > 0 ? bytes / bytes_per_ms(bytes / calls) : 0;
    const double of_machine = std::max(flops / flops_per_ms, of_memory) / ms;
    rows.push_back({{"operation", name},
                    {"calls", calls},
                    {"ms", ms},
                    {"share", ms / times.mean},
                    {"gflops", flops / ms / 1e6},
                    {"gbs", bytes / ms / 1e6},
                    {"of_machine", std::min(of_machine, 1.0)}});  // more is noise
  };
  double elsewhere = times.mean;
  for (const ProfileRow& row : profile()) {
    const double ms = 1e3 * row.seconds / count;
    elsewhere -= ms;
    add(row.name + (row.pass == Pass::backward ? ", backward" : ""), double(row.calls) / count, ms,
        row.flops / count, row.bytes / count);
  }
  add("between operations", 0, elsewhere, 0, 0);
  return rows;
}

Ids random_ids(Index batch, Index length, Index tokens) {
  Rng rng(0, "bench");
  Ids ids({batch, length});
  for (std::int32_t& id : ids.span()) id = static_cast<std::int32_t>(rng.below(tokens));
  return ids;
}

namespace {

struct BenchCommand {
  std::string what = "step", only_case;
  BenchOptions options;
  CLI::Option* threads = nullptr;
  bool json = false;
};

using Bench = Record (*)(const BenchCase&, const BenchOptions&);

Bench bench_called(const std::string& what) {
  if (what == "generate") return bench_generate;
  if (what == "encode") return bench_encode;
  return what == "memory" ? bench_memory : bench_step;
}

/// The columns of the table for people: key, title, digits.
struct Column {
  const char *key, *title;
  int digits;
};

std::vector<Value> table_row(const Record& line, const std::vector<Column>& columns) {
  std::vector<Value> cells = {line["case"].get<std::string>()};
  for (const Column& column : columns) {
    const std::string key = column.key;
    const double value = line[key].get<double>();
    cells.push_back(key.ends_with("_bytes") ? bytes_text(value)
                    : column.digits == 0    ? with_commas(Index(value + 0.5))
                                            : fmt::format("{:.{}f}", value, column.digits));
  }
  return cells;
}

std::vector<Column> columns_of(const std::string& what) {
  if (what == "generate") return {{"batch", "batch", 0}, {"tok_s", "tokens/s", 0}};
  if (what == "encode") return {{"batch", "batch", 0}, {"ms", "ms", 2}, {"min_ms", "min ms", 2}};
  if (what == "memory") {
    return {{"params", "parameters", 0},
            {"parameter_bytes", "4 x parameters", 0},
            {"working_bytes", "working memory", 0}};
  }
  return {{"params", "parameters", 0}, {"ms", "ms/step", 2},     {"min_ms", "min ms", 2},
          {"tok_s", "tokens/s", 0},    {"gflops", "GFLOP/s", 1}, {"peak_bytes", "memory", 0}};
}

/// Returns the case with the requested sizes, and records these in `line`.
BenchCase resized(BenchCase bench_case, const BenchOptions& options, Record& line) {
  for (const auto& [name, wanted, size] : {std::tuple("layers", options.layers, &bench_case.layers),
                                           {"heads", options.heads, &bench_case.heads},
                                           {"width", options.width, &bench_case.width},
                                           {"length", options.length, &bench_case.length},
                                           {"batch", options.batch, &bench_case.batch}}) {
    if (wanted == 0) continue;
    *size = wanted;
    line[name] = wanted;
  }
  require_heads_divide(bench_case.heads, bench_case.width, option_text);
  return bench_case;
}

/// A profile as a table, without the operations that take almost no time.
std::string profile_text(const Record& profile) {
  const auto rate = [](double value) { return value > 0 ? fmt::format("{:.1f}", value) : ""; };
  Table table{.columns = {"operation", "calls", "ms", "share", "GFLOP/s", "GB/s", "of machine"}};
  for (const Record& row : profile) {
    const double share = row["share"], reached = row["of_machine"], calls = row["calls"];
    if (share < 0.0005) continue;
    table.rows.push_back(
        {row["operation"].get<std::string>(), calls > 0 ? fmt::format("{:.0f}", calls) : "",
         fmt::format("{:.3f}", row["ms"].get<double>()), fmt::format("{:.1f} %", 100 * share),
         rate(row["gflops"]), rate(row["gbs"]),
         reached > 0 ? fmt::format("{:.0f} %", 100 * reached) : ""});
  }
  return table_text(table, TerminalStyle::of(stdout));
}

/// The sizes of a layer, the case's or those that were given, and tables as they are measured.
int run_bench_heads(const BenchCommand& command) {
  const BenchOptions& given = command.options;
  HeadsSizes sizes;
  for (const BenchCase& bench_case : bench_cases()) {
    if (command.only_case != bench_case.name) continue;
    sizes = {bench_case.width, bench_case.heads, bench_case.length};
  }
  if (given.width > 0) sizes.width = given.width;
  if (given.heads > 0) sizes.heads = given.heads;
  if (given.length > 0) sizes.length = given.length;
  require_heads_divide(sizes.heads, sizes.width, option_text);
  const TerminalStyle style = TerminalStyle::of(stdout);
  if (!command.json) {
    fmt::print(
        "Speed-up by removing heads: width {}, {} tokens, {} layout, {}\n"
        "Medians of runs in turn; the ceiling is the ratio of the arithmetic.\n",
        sizes.width, sizes.length, given.layout, blas_description());
  }
  bench_heads(sizes, given, command.threads->count() > 0 ? num_threads() : 0,
              [&](const HeadsTable& table) {
                if (command.json) {
                  fmt::print("{}\n", heads_table_record(table, sizes).dump());
                } else {
                  fmt::print("\n{}", heads_table_text(table, style));
                }
                std::fflush(stdout);
              });
  return 0;
}

int run_bench(const BenchCommand& command) {
  if (command.what == "memory" && command.options.profile) {
    throw UsageError(
        "--profile is not available for \"bench memory\"; use it with step, generate or encode");
  }
  if (command.what != "step" && command.options.telemetry > 0) {
    throw UsageError("--telemetry is only available for \"bench step\"");
  }
  if (command.what == "heads" && (command.options.profile || command.options.layers > 0)) {
    throw UsageError("bench heads measures one layer; leave out --profile and --layers");
  }
  if (command.what == "generate" && command.options.length == 1) {
    throw UsageError("--length 1 leaves nothing to generate after the prompt (try 64)");
  }
  if (command.what == "heads") return run_bench_heads(command);
  const std::vector<Column> columns = columns_of(command.what);
  Table table{.columns = {"case"}};
  for (const Column& column : columns) table.columns.emplace_back(column.title);
  std::string profiles;
  for (const BenchCase& bench_case : bench_cases()) {
    if (!command.only_case.empty() && command.only_case != bench_case.name) continue;
    Record line = {{"case", bench_case.name}};
    line.update(
        bench_called(command.what)(resized(bench_case, command.options, line), command.options));
    line["threads"] = num_threads();
    line["layout"] = command.options.layout;
    line["blas"] = blas_description();
    if (command.json) {
      fmt::print("{}\n", line.dump());
      std::fflush(stdout);
    } else {
      table.rows.push_back(table_row(line, columns));
      if (line.contains("profile")) {
        profiles +=
            fmt::format("\n{}, one {}\n{}", bench_case.name,
                        command.what == "step" ? "step" : "pass", profile_text(line["profile"]));
        if (line.contains("telemetry_share")) {
          profiles +=
              fmt::format("\ntelemetry and its row statistics, every {} steps: {:.2f} %\n",
                          command.options.telemetry, 100 * line["telemetry_share"].get<double>());
        }
      }
    }
  }
  if (command.json) return 0;
  fmt::print("{}, {} layout, {} {}, {}\n\n{}{}", command.what, command.options.layout,
             num_threads(), num_threads() == 1 ? "thread" : "threads", blas_description(),
             table_text(table, TerminalStyle::of(stdout)), profiles);
  return 0;
}

}  // namespace

Command add_bench(CLI::App& program) {
  CLI::App* app = program.add_subcommand("bench", "Measures the speed of training and inference");
  const auto command = std::make_shared<BenchCommand>();
  std::vector<std::string> cases;
  for (const BenchCase& bench_case : bench_cases()) cases.emplace_back(bench_case.name);
  app->add_option("BENCHMARK", command->what,
                  "step, generate, encode, memory or heads (speed-up by removing heads)")
      ->type_name("")
      ->capture_default_str()
      ->check(one_of({"step", "generate", "encode", "memory", "heads"}));
  app->add_option("--case", command->only_case,
                  "size of the model: nano, small, medium or base (default: all)")
      ->type_name("NAME")
      ->check(one_of(cases));
  app->add_option("--layout", command->options.layout, "attention layout: fused or separate")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(one_of({"fused", "separate"}));
  app->add_option("--steps", command->options.steps,
                  "number of timed repetitions (default: by benchmark)")
      ->type_name("N")
      ->check(at_least(1));
  app->add_option("--batch,--batch-size", command->options.batch,
                  "sequences in a batch (default: by case; 1 for generate and encode)")
      ->type_name("N")
      ->check(at_least(1));
  for (const auto& [name, size, what] :
       {std::tuple("layers", &command->options.layers, "number of layers (default: by case)"),
        {"heads", &command->options.heads, "heads per attention (default: by case)"},
        {"width", &command->options.width,
         "width of the model, the embedding dimension (default: by case)"},
        {"length", &command->options.length, "tokens per sequence (default: by case)"}}) {
    app->add_option(std::string("--") + name, *size, what)->type_name("N")->check(at_least(1));
  }
  app->add_option("--telemetry", command->options.telemetry,
                  "steps between measurements of every head; 0 turns them off")
      ->type_name("N")
      ->capture_default_str()
      ->check(at_least(0));
  app->add_flag("--profile", command->options.profile, "show the time of each operation");
  app->add_flag("--json", command->json, "print one line of JSON per case");
  command->threads = add_threads(*app);
  app->footer(
      fmt::format("Examples: {0} bench step --case nano\n"
                  "          {0} bench generate --threads 1 --json",
                  invocation()));
  return {app, [command] { return run_bench(*command); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
