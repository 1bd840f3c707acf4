// `headroom export`: writes a trained model for other programs.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/exports/exported.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "headroom/base/head_list.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/require.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_foreign/folders/write_folder.hpp"
#include "headroom_runs/exports/onnx.hpp"
#include "headroom_runs/exports/torch.hpp"
#include "headroom_runs/runs/folder_run.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

enum class ExportFormat { onnx, torch };

struct ExportOptions {
  std::string model, to, form, remove, out;
  bool force = false;
};

/// Writes a model of a folder of Transformers into another, without some more of its heads.
int export_folder(const std::string& name, const ModelFolder& source, Module& model,
                  const ExportOptions& options) {
  require(options.to.empty(),
          "--to writes models of headroom; a model of Transformers is written with --form dense "
          "or --form compact");
  require(!options.form.empty(), "give --form dense or --form compact");
  const auto form = from_name<FolderForm>("--form", options.form);
  prune(model,
        options.remove.empty() ? std::vector<HeadId>() : heads_from(options.remove, "--remove"));
  require_form(source, model, form);
  Index all = 0;
  for (const NamedAttention& found : attentions(model)) all += found.attention->config().heads;
  const std::filesystem::path folder = folder_for_files(options.out, "export", options.force);
  const auto files = write_model_folder(source, model, form, folder);
  fmt::print("{}, a {} with {} of {} heads, {} for Transformers:\n", shown(name),
             source.architecture, live_heads(model).size(), all, name_of(form));
  report_files(folder, files);
  return 0;
}

int export_model(const ExportOptions& options) {
  const std::filesystem::path from = any_model_folder(options.model);
  require_apart(from, options.out);
  if (is_model_folder(from)) {
    const ModelFolder source = open_model_folder(from);
    return export_folder(from.string(), source, *source.load(), options);
  }
  require(!options.to.empty() || !options.form.empty(),
          "give --to onnx or --to torch; of a run that began with a model folder, --form dense or "
          "--form compact");
  const SavedModel saved = load_model(checkpoint_of(from));
  if (const std::optional<ModelFolder> source = folder_of_run(saved)) {
    require_apart(source->path, options.out);
    return export_folder(saved.origin, *source, *saved.model, options);
  }
  require(options.form.empty() && options.remove.empty(),
          "--form and --remove are for models of Transformers; give --to onnx or --to torch");
  const auto format = from_name<ExportFormat>("--to", options.to);
  const std::filesystem::path folder = folder_for_files(options.out, "export", options.force);
  const bool is_onnx = format == ExportFormat::onnx;
  const auto files = is_onnx ? export_onnx(saved, folder) : export_torch(saved, folder);
  const std::size_t live = live_heads(*saved.model).size();
  fmt::print("{}, a {} with {} of {} heads, for {}:\n", shown(saved.origin),
             name_of(saved.config.kind), live, live + saved.removed.size(),
             is_onnx ? "ONNX runtimes" : "PyTorch");
  report_files(folder, files);
  return 0;
}

}  // namespace

Command add_export(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "export", "Writes a trained model as ONNX, for PyTorch or for Transformers");
  const auto options = std::make_shared<ExportOptions>();
  app->add_option(
         "--model", options->model,
         "folder of a run, a checkpoint, or a model folder of Transformers (default: the newest "
         "run in runs/, or a sample)")
      ->type_name("PATH");
  app->add_option("--to", options->to,
                  "onnx: opset 17, in single precision; torch: a state dict with its program")
      ->check(one_of({"onnx", "torch"}))
      ->type_name("FORMAT");
  app->add_option("--form", options->form,
                  "of a model folder of Transformers, or of a run that began with one: dense, "
                  "where removed heads stay as zeros, or "
                  "compact, which versions 4 open")
      ->check(one_of({"dense", "compact"}))
      ->type_name("FORM");
  app->add_option("--remove", options->remove,
                  "heads of a model folder to remove, such as \"encoder 0.3,encoder 5.11\" (layer "
                  "and head, from 0)")
      ->type_name("HEADS");
  add_out(*app, options->out, "folder of the files");
  app->add_flag("--force", options->force,
                "replace the files of an earlier export with --to in --out");
  app->footer(fmt::format("Example: {} export --model runs/dates-1 --to onnx --out dates-onnx",
                          invocation()));
  return {app, [options] { return export_model(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
