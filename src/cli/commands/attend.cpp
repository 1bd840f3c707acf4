// `headroom attend`: the attention weights of a trained model on a text, in the terminal and as a
// page.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/environment.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom_lab/report/attend.hpp"
#include "headroom_runs/records/attention_record.hpp"
#include "headroom_runs/runs/open_model.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct AttendOptions {
  std::string model, out;
  AttentionQuestion question;
  HeadSelection selection;
  bool json = false, force = false;
};

/// The page's title: the input and the model's output, if it has one.
std::string attend_title(const AttentionRecord& record) {
  if (record.answer.text.empty()) return fmt::format("“{}”", printable(record.input));
  return fmt::format("“{}” → “{}”", printable(record.input), printable(record.answer.text));
}

int attend(const AttendOptions& options) {
  const SavedModel saved = open_model(any_model_folder(options.model));
  AttentionRecord record = attention_record(saved, options.question);
  check_selection(record, options.selection);  // throws before a folder is created
  record.model.file = saved.origin;
  record.title = attend_title(record);
  const auto print = [&] {
    if (options.json) {
      fmt::print("{}\n", json_of(record).dump());
    } else {
      fmt::print("{}", attend_text(record, options.selection, TerminalStyle::of(stdout)));
    }
  };
  if (options.json && options.out.empty()) {
    print();
    return 0;
  }
  const RunFolder folder = options.out.empty() ? RunFolder::fresh("runs", "attend")
                                               : RunFolder::for_page(options.out, options.force);
  print();
  record.environment = environment();
  record.page_model = page_model_record(saved, record.ids);
  write_attend_page(record, folder.report());
  if (!options.json) fmt::print("\n  The page: {}\n", shown(folder.report().string()));
  return 0;
}

}  // namespace

Command add_attend(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("attend", "Shows the attention weights of a text and writes a page");
  const auto options = std::make_shared<AttendOptions>();
  add_any_model(*app, options->model);
  app->add_option(
         "--input", options->question.input,
         "input of the model; [MASK] in it is a token that a masked language model guesses")
      ->type_name("TEXT")
      ->required();
  app->add_option("--output", options->question.output,
                  "output whose attention is shown (default: the output that the model generates)")
      ->type_name("TEXT");
  app->add_option("--length", options->question.write,
                  "maximum number of tokens to generate (language models)")
      ->check(at_least(1))
      ->capture_default_str();
  app->add_option_function<std::string>(
         "--kind",
         [selection = &options->selection](const std::string& name) {
           selection->kind = from_name<AttentionKind>("--kind", name);
         },
         "show only attention of this kind: encoder, decoder or cross")
      ->type_name("NAME")
      ->check(one_of({"encoder", "decoder", "cross"}));
  app->add_option("--layer", options->selection.layer, "show only this layer (the first is 0)")
      ->check(at_least(0));
  app->add_option("--head", options->selection.head, "show only this head (the first is 0)")
      ->check(at_least(0));
  add_out(*app, options->out, "folder of the page");
  app->add_flag("--force", options->force, "replace the page in --out");
  app->add_flag("--json", options->json, "print the record as JSON; write a page only with --out");
  add_threads(*app);
  app->footer(
      fmt::format("Example: {} attend --input \"May 3rd, 2021\" --kind cross", invocation()));
  return {app, [options] { return attend(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
