// `headroom translate`: the output of a trained encoder-decoder for each line.
#include <fmt/format.h>

#include <memory>

#include "cli/frame/command.hpp"
#include "cli/frame/common_options.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "cli/use/texts.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom_runs/runs/open_model.hpp"
#include "headroom_runs/use/predictor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct TranslateOptions {
  std::string model;
  std::vector<std::string> input;
  Index beam = 1, candidates = 1;
};

/// Prints the output for a line, or the reason why there is none on stderr. Returns false then.
bool print_output(const Predictor& predictor, const std::string& line, Index number,
                  Index candidates, Record& lines) {
  const Prediction prediction = predictor.predict({&line, 1}).front();
  std::string problem = prediction.problem;
  if (!prediction.unknown.empty()) {
    problem = fmt::format("\"{}\" in \"{}\" is not in the model's vocabulary",
                          printable(prediction.unknown.front()), printable(line));
  }
  lines.push_back({{"input", line}, {"outputs", Record::array()}});
  if (!problem.empty()) {
    lines.back()["problem"] = problem;
    print_error("line {}: {}\n", number, problem);
    fmt::print("\n");  // keeps outputs on the lines of their inputs
    return false;
  }
  for (const Candidate& one : prediction.candidates) {
    lines.back()["outputs"].push_back(
        {{"output", one.text}, {"log_probability", one.log_probability}});
    if (candidates == 1) {
      fmt::print("{}\n", shown(one.text));
    } else {
      fmt::print("{}\t{:.3f}\n", shown(one.text), one.log_probability);
    }
  }
  std::fflush(stdout);
  return true;
}

int translate(const TranslateOptions& options) {
  if (options.candidates > options.beam) {
    throw UsageError(fmt::format("--candidates {0} needs --beam {0} or more", options.candidates));
  }
  const SavedModel saved = open_model(any_model_folder(options.model));
  saved.seq2seq();  // throws for another kind of model
  const Predictor predictor(saved, {.beam = options.beam, .candidates = options.candidates});
  Index number = 0, refused = 0;
  Record lines = Record::array();
  const auto print = [&](const std::string& line) {
    refused += print_output(predictor, line, ++number, options.candidates, lines) ? 0 : 1;
  };
  for (const std::string& line : options.input) print(line);
  if (options.input.empty()) {
    TextSource input("-", "", false, saved);
    for (auto line = input.next(1); !line.empty(); line = input.next(1)) print(line.front());
  }
  set_result(std::move(lines));
  if (refused == 0) return 0;
  end_output();
  print_result(0);  // the other lines have their outputs
  throw DataError(fmt::format("{} of {} lines could not be read by this model", refused, number));
}

}  // namespace

Command add_translate(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("translate", "Prints a trained model's output for each line");
  const auto options = std::make_shared<TranslateOptions>();
  add_any_model(*app, options->model);
  app->add_option("TEXT", options->input, "input lines (default: the lines of standard input)")
      ->type_name("");
  app->add_option("--beam", options->beam, "beam width; 1 means greedy decoding")
      ->check(at_least(1))
      ->capture_default_str();
  app->add_option("--candidates", options->candidates,
                  "number of outputs per line; more than 1 also prints log-probabilities")
      ->check(at_least(1))
      ->capture_default_str();
  add_threads(*app);
  app->footer(
      fmt::format("Example: echo transformer | {} translate --model runs/g2p-1", invocation()));
  return {app, [options] { return translate(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
