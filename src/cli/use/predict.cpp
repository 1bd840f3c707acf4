// `headroom predict`: the outputs of a trained model for the lines of a file, in batches.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/frame/command.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "cli/use/texts.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/text.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom_runs/runs/open_model.hpp"
#include "headroom_runs/use/predictor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr std::size_t lines_at_once = 4096;

struct PredictCommandOptions {
  std::string model, file = "-", column;
  PredictOptions predict = {.candidates = 0};
  bool json = false, skip_bad_lines = false;
};

/// The text on one line: a language model may generate line breaks.
std::string on_a_line(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) {
    text.replace(at, 1, "\\n");
  }
  return shown(text);
}

/// Prints predictions in the order of their lines.
class Printer {
 public:
  Printer(const SavedModel& saved, const PredictCommandOptions& options)
      : is_classifier_(saved.config.kind == ModelKind::classifier), options_(&options) {}

  void print(const std::string& input, const Prediction& prediction) {
    ++lines_;
    if (!prediction.problem.empty()) {
      ++refused_;
      print_error("line {}: {}\n", lines_, shown(prediction.problem, stderr));
    }
    if (!prediction.unknown.empty() && unknown_++ == 0) {
      example_ = fmt::format("\"{}\" in line {}", printable(prediction.unknown.front()), lines_);
    }
    if (options_->json) {
      fmt::print(
          "{}\n",
          record_of(input, prediction).dump(-1, ' ', false, Record::error_handler_t::replace));
      return;
    }
    if (!prediction.problem.empty()) fmt::print("\n");  // keeps outputs on the lines of the inputs
    for (const Candidate& one : prediction.candidates) {
      if (is_classifier_) {
        fmt::print("{}\t{:.4f}\n", shown(one.text), std::exp(one.log_probability));
      } else if (options_->predict.candidates > 1) {
        fmt::print("{}\t{:.3f}\n", on_a_line(one.text), one.log_probability);
      } else {
        fmt::print("{}\n", on_a_line(one.text));
      }
    }
  }

  /// Says on stderr what was unknown. Throws DataError if a line had no prediction.
  void finish() const {
    std::fflush(stdout);
    if (unknown_ > 0) {
      print_error(
          "{} of {} lines have symbols that the model does not know, such as {}; it read "
          "them as unknown\n",
          with_commas(unknown_), with_commas(lines_), example_);
    }
    if (refused_ == 0) return;
    throw DataError(
        fmt::format("{} of {} lines could not be read by this model", refused_, lines_));
  }

 private:
  Record record_of(const std::string& input, const Prediction& prediction) const {
    Record record{{"input", input}};
    if (!prediction.problem.empty()) {
      record["problem"] = prediction.problem;
      return record;
    }
    if (!prediction.unknown.empty()) record["unknown"] = prediction.unknown;
    Record all = Record::array();
    for (const Candidate& one : prediction.candidates) {
      if (is_classifier_) {
        all.push_back({{"class", one.text}, {"probability", std::exp(one.log_probability)}});
      } else {
        all.push_back({{"output", one.text},
                       {"log_probability", one.log_probability},
                       {"finished", one.finished}});
      }
    }
    record.update(all.front());
    if (all.size() > 1) record[is_classifier_ ? "classes" : "candidates"] = all;
    return record;
  }

  bool is_classifier_;
  const PredictCommandOptions* options_;
  Index lines_ = 0, refused_ = 0, unknown_ = 0;
  std::string example_;
};

int predict(PredictCommandOptions options) {
  const SavedModel saved = open_model(any_model_folder(options.model));
  Index& candidates = options.predict.candidates;
  if (candidates == 0) {
    const bool all = options.json && saved.config.kind == ModelKind::classifier;
    candidates = all ? saved.config.target_vocabulary : 1;
  }
  const Predictor predictor(saved, options.predict);
  Printer printer(saved, options);
  TextSource texts(options.file, options.column, options.skip_bad_lines, saved);
  // People who type see each answer at once.
  const std::size_t at_once = texts.is_typed() ? 1 : lines_at_once;
  while (true) {
    const std::vector<std::string> lines = texts.next(at_once);
    if (lines.empty()) break;
    const std::vector<Prediction> predictions = predictor.predict(lines);
    for (std::size_t i = 0; i < lines.size(); ++i) printer.print(lines[i], predictions[i]);
    if (at_once == 1) std::fflush(stdout);
  }
  printer.finish();
  return 0;
}

}  // namespace

Command add_predict(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("predict", "Predicts with a trained model for each line of a file");
  const auto options = std::make_shared<PredictCommandOptions>();
  add_any_model(*app, options->model);
  app->add_option("FILE", options->file,
                  "lines of text, or a table (.tsv, .csv, .jsonl) with a column of inputs; - is "
                  "standard input")
      ->type_name("")
      ->capture_default_str();
  app->add_option("--column,--columns", options->column,
                  "column of a table with the inputs, by name or number (default: that of the "
                  "run's data, or source or text)")
      ->type_name("NAME");
  app->add_option("--candidates", options->predict.candidates,
                  "number of outputs or classes per line, best first (default: 1; with --json "
                  "all classes)")
      ->check(at_least(1));
  app->add_option("--beam", options->predict.beam, "width of beam search; 1 means greedy decoding")
      ->check(at_least(1))
      ->capture_default_str();
  app->add_option("--length", options->predict.length,
                  "number of tokens by which a language model continues a line")
      ->check(at_least(1))
      ->capture_default_str();
  app->add_option("--batch", options->predict.batch_size, "lines that are computed together")
      ->check(at_least(1))
      ->capture_default_str();
  app->add_flag("--skip-bad-lines", options->skip_bad_lines, "skip malformed lines of a table");
  app->add_flag("--json", options->json, "print a JSON object per line, with probabilities");
  add_threads(*app);
  app->footer(
      fmt::format("Examples: {0} predict --model runs/pairs-1 words.txt > answers.txt\n"
                  "          {0} predict --model runs/labels-1 --json mails.csv",
                  invocation()));
  return {app, [options] { return predict(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
