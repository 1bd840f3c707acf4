// `headroom sample`: generates text with a trained language model.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "cli/frame/command.hpp"
#include "cli/frame/common_options.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/nn/decoding.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_runs/runs/open_model.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct SampleOptions {
  std::string model, prompt = "\n";
  Index length = 500, seed = 1, top_k = 0;
  double temperature = 0.8, top_p = 1;
};

/// Prints tokens as soon as it is known which text they are.
class Typewriter {
 public:
  explicit Typewriter(const Tokenizer& tokenizer)
      : tokenizer_(&tokenizer), own_(dynamic_cast<const Vocabulary*>(&tokenizer)) {}

  void add(std::int32_t token) {
    if (own_ != nullptr) {
      print(own_->token(token));
      return;
    }
    ids_.push_back(token);  // a character may be made of several tokens
    const std::string all = tokenizer_->decode(ids_);
    const bool whole = !all.ends_with("\xEF\xBF\xBD");  // U+FFFD
    if (whole && all.starts_with(text_)) print(all.substr(text_.size()));
  }
  /// Prints what is left, and returns the whole text.
  std::string finish() {
    const std::string all = tokenizer_->decode(ids_);
    if (all.starts_with(text_)) print(all.substr(text_.size()));
    return text_;
  }

 private:
  void print(const std::string& more) {
    text_ += more;
    fmt::print("{}", shown(more));
    std::fflush(stdout);
  }

  const Tokenizer* tokenizer_;
  const Vocabulary* own_;  // whose tokens are texts, one after the other
  Tokens ids_;
  std::string text_;
};

/// Generates `length` tokens after the prompt, or fewer if the text ends, and prints each at once.
/// If the prompt is longer than the model's window, only its end is used. Returns their text.
std::string write_on(const SavedModel& saved, const Tokens& prompt, const SampleOptions& options) {
  const LanguageModel& model = saved.language_model();
  Typewriter typewriter(saved.tokenizer("tokens"));
  const SamplingOptions sampling{.temperature = Real(options.temperature),
                                 .top_k = options.top_k,
                                 .top_p = Real(options.top_p)};
  Rng rng(static_cast<std::uint64_t>(options.seed), "sampling");
  const auto window = static_cast<std::size_t>(model.config.longest);
  const auto seen = std::span(prompt).last(std::min(window, prompt.size()));
  DecodingLimits limits = limits_of(saved);
  limits.longest = options.length;
  sample(*make_writer(model, 1), limits, sampling, rng, Ids({1, Index(seen.size())}, seen),
         [&](const std::vector<std::int32_t>& tokens) {
           if (tokens.front() != limits.end) typewriter.add(tokens.front());
         });
  const std::string text = typewriter.finish();
  fmt::print("\n");
  return text;
}

int sample_text(const SampleOptions& options) {
  if (options.prompt.empty()) throw UsageError("--prompt is empty; give at least one character");
  if (options.temperature < 0) {
    throw UsageError(fmt::format("--temperature {} is negative; 0 takes the most likely token",
                                 options.temperature));
  }
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    throw UsageError(fmt::format("--top-p {} must be greater than 0 and at most 1", options.top_p));
  }
  const bool foreign = !options.model.empty() && is_model_folder(options.model);
  const SavedModel saved =
      open_model(foreign ? std::filesystem::path(options.model) : run_folder(options.model));
  saved.language_model();  // throws for another kind of model
  require_outputs(saved);
  const Tokenizer& tokenizer = saved.tokenizer("tokens");
  const Tokens prompt = tokenizer.framed(tokenizer.encode(options.prompt));
  if (prompt.empty()) throw UsageError("--prompt has no tokens; give some text");
  fmt::print("{}", options.prompt == "\n" ? "" : shown(options.prompt));
  const std::string text = write_on(saved, prompt, options);
  set_result({{"prompt", options.prompt}, {"text", text}});
  return 0;
}

}  // namespace

Command add_sample(CLI::App& program) {
  CLI::App* app = program.add_subcommand("sample", "Generates text with a trained language model");
  const auto options = std::make_shared<SampleOptions>();
  add_run(*app, options->model)
      ->description(
          "folder of a run, or a model folder of Transformers (default: the newest in runs/)");
  app->add_option("--prompt", options->prompt, "text to continue (default: a line break)");
  app->add_option("--length", options->length, "number of tokens (characters) to generate")
      ->check(at_least(1))
      ->capture_default_str();
  app->add_option("--temperature", options->temperature,
                  "sampling temperature; 0 always takes the most likely token")
      ->capture_default_str();
  app->add_option("--top-k", options->top_k, "sample from the k most likely tokens; 0 means all")
      ->capture_default_str()
      ->check(at_least(0));
  app->add_option("--top-p", options->top_p,
                  "sample from the most likely tokens whose probabilities sum to p")
      ->capture_default_str();
  app->add_option("--seed", options->seed, "seed of all random numbers")
      ->check(at_least(0, any_seed))
      ->capture_default_str();
  add_threads(*app);
  app->footer(fmt::format("Example: {} sample --prompt \"ROMEO:\" --length 300", invocation()));
  return {app, [options] { return sample_text(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
