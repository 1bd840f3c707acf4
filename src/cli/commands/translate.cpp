// `headroom translate`: the output of a trained encoder-decoder for each line.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "cli/frame/command.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/nn/decoding.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct TranslateOptions {
  std::string model;
  std::vector<std::string> input;
  Index beam = 1, candidates = 1;
};

/// The most likely outputs for one source, best first.
std::vector<Written> outputs_for(const Seq2Seq& model, const Tokens& source,
                                 const Vocabulary& target, Index beam) {
  const Padded padded = pad(std::span(&source, 1), 0);
  const DecodingLimits limits{
      .begin = target.bos(), .end = target.eos(), .longest = model.config.longest - 1};
  const auto writer = make_writer(model, padded.ids, padded.lengths, beam);
  if (beam == 1) return greedy(*writer, limits);
  return beam_search(*writer, beam, limits).front();
}

class Translator {
 public:
  explicit Translator(const TranslateOptions& options)
      : options_(options),
        saved_(load_model(checkpoint_of(model_folder(options.model)))),
        model_(saved_.seq2seq()),
        source_(saved_.vocabulary("source")),
        target_(saved_.vocabulary("target")) {}

  /// Prints the output for a line, or the reason on stderr. Returns false if there is none.
  bool print_output(const std::string& line, Index number) {
    try {
      const std::string unknown = unknown_token(line);
      if (!unknown.empty()) {
        return refuse(number, fmt::format("\"{}\" in \"{}\" is not in the model's vocabulary",
                                          printable(unknown), printable(line)));
      }
      const Tokens tokens = source_.encode(line);
      if (tokens.empty()) return refuse(number, "the line is empty");
      if (Index(tokens.size()) > model_.config.longest) {
        return refuse(number, fmt::format("{} tokens; the model reads at most {}", tokens.size(),
                                          model_.config.longest));
      }
      const auto written = outputs_for(model_, tokens, target_, options_.beam);
      const auto count = std::min(written.size(), static_cast<std::size_t>(options_.candidates));
      for (std::size_t i = 0; i < count; ++i) {
        const std::string text = shown(target_.decode(written[i].ids));
        if (options_.candidates == 1) {
          fmt::print("{}\n", text);
        } else {
          fmt::print("{}\t{:.3f}\n", text, written[i].log_probability);
        }
      }
      std::fflush(stdout);
      return true;
    } catch (const DataError& error) {
      return refuse(number, error.what());
    }
  }

 private:
  /// The first token of a line that is not in the vocabulary, or "".
  std::string unknown_token(const std::string& line) const {
    for (const std::string& token : source_.tokens_in(line)) {
      if (!source_.knows(token)) return token;
    }
    return {};
  }

  static bool refuse(Index number, const std::string& reason) {
    print_error("line {}: {}\n", number, reason);
    fmt::print("\n");  // keeps outputs on the lines of their inputs
    return false;
  }

  const TranslateOptions& options_;
  SavedModel saved_;
  Seq2Seq& model_;
  Vocabulary source_, target_;
};

int translate(const TranslateOptions& options) {
  if (options.candidates > options.beam) {
    throw UsageError(fmt::format("--candidates {0} needs --beam {0} or more", options.candidates));
  }
  Translator translator(options);
  Index number = 0, refused = 0;
  if (!options.input.empty()) {
    for (const std::string& line : options.input)
      refused += translator.print_output(line, ++number) ? 0 : 1;
  } else {
    for (std::string line; std::getline(std::cin, line);) {
      if (number == 0 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // byte order mark
      if (!line.empty() && line.back() == '\r') line.pop_back();
      refused += translator.print_output(line, ++number) ? 0 : 1;
    }
  }
  if (refused == 0) return 0;
  throw DataError(fmt::format("{} of {} lines could not be read by this model", refused, number));
}

}  // namespace

Command add_translate(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("translate", "Prints a trained model's output for each line");
  const auto options = std::make_shared<TranslateOptions>();
  add_model(*app, options->model);
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
