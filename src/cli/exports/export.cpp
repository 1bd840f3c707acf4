// `headroom export`: writes a trained model for other programs.
#include <fmt/format.h>

#include <memory>

#include "cli/exports/exported.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/names.hpp"
#include "headroom_runs/exports/onnx.hpp"
#include "headroom_runs/exports/torch.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

enum class ExportFormat { onnx, torch };

struct ExportOptions {
  std::string model, to, out;
  bool force = false;
};

int export_model(const ExportOptions& options) {
  const SavedModel saved = load_model(checkpoint_of(model_folder(options.model)));
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
  CLI::App* app = program.add_subcommand("export", "Writes a trained model as ONNX or PyTorch");
  const auto options = std::make_shared<ExportOptions>();
  app->add_option(
         "--model", options->model,
         "folder of a run, or a checkpoint (default: the newest run in runs/, or a sample)")
      ->type_name("PATH");
  app->add_option("--to", options->to,
                  "onnx: opset 17, in single precision; torch: a state dict with its program")
      ->check(one_of({"onnx", "torch"}))
      ->type_name("FORMAT")
      ->required();
  add_out(*app, options->out, "folder of the files");
  app->add_flag("--force", options->force, "replace the files of an earlier export in --out");
  app->footer(fmt::format("Example: {} export --model runs/dates-1 --to onnx --out dates-onnx",
                          invocation()));
  return {app, [options] { return export_model(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
