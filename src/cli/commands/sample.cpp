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
#include "headroom/train/checkpoint.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct SampleOptions {
  std::string model, prompt = "\n";
  Index length = 500, seed = 1, top_k = 0;
  double temperature = 0.8, top_p = 1;
};

/// Generates `length` tokens after the prompt and prints each at once. If the prompt is longer than
/// the model's window, only its end is used. Returns their text.
std::string write_on(const LanguageModel& model, const Vocabulary& vocabulary, const Tokens& prompt,
                     const SampleOptions& options) {
  std::string text;
  const SamplingOptions sampling{.temperature = Real(options.temperature),
                                 .top_k = options.top_k,
                                 .top_p = Real(options.top_p)};
  Rng rng(static_cast<std::uint64_t>(options.seed), "sampling");
  const auto window = static_cast<std::size_t>(model.config.longest);
  const auto seen = std::span(prompt).last(std::min(window, prompt.size()));
  sample(*make_writer(model, 1), {.longest = options.length}, sampling, rng,
         Ids({1, Index(seen.size())}, seen), [&](const std::vector<std::int32_t>& tokens) {
           text += vocabulary.token(tokens.front());
           fmt::print("{}", shown(vocabulary.token(tokens.front())));
           std::fflush(stdout);
         });
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
  const SavedModel saved = load_model(checkpoint_of(run_folder(options.model)));
  const LanguageModel& model = saved.language_model();
  const Vocabulary vocabulary = saved.vocabulary("tokens");
  const Tokens prompt = vocabulary.encode(options.prompt);
  fmt::print("{}", options.prompt == "\n" ? "" : shown(options.prompt));
  const std::string text = write_on(model, vocabulary, prompt, options);
  set_result({{"prompt", options.prompt}, {"text", text}});
  return 0;
}

}  // namespace

Command add_sample(CLI::App& program) {
  CLI::App* app = program.add_subcommand("sample", "Generates text with a trained language model");
  const auto options = std::make_shared<SampleOptions>();
  add_run(*app, options->model);
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
