// Exporting a model as PyTorch.
#include "headroom_runs/exports/torch.hpp"

#include <map>

#include "exports/model_py.hpp"
#include "exports/plain_attention.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/tensor_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The parameters by the names of model.py: those of the model, with other attentions, and with the
/// tables of sinusoids, which are no parameters here.
TensorFile state_dict(Module& model) {
  TensorFile file;
  file.metadata["format"] = "pt";  // as PyTorch's own files say
  std::vector<std::string> attention_paths;
  for (const NamedAttention& found : attentions(model)) {
    for (const auto& [name, array] : plain_attention(*found.attention)) {
      file.put(found.full_name(name), array);
    }
    attention_paths.push_back(found.name + ".");
  }
  const auto is_of_attention = [&](const std::string& name) {
    return std::any_of(attention_paths.begin(), attention_paths.end(),
                       [&](const std::string& path) { return name.starts_with(path); });
  };
  for (const NamedParameter& parameter : parameters(model)) {
    if (!is_of_attention(parameter.name)) file.put(parameter.name, parameter.tensor.value());
  }
  for (const NamedModule& each : modules(model)) {
    const auto* positions = dynamic_cast<const Positions*>(each.module);
    if (positions == nullptr || positions->kind != PositionKind::sinusoidal) continue;
    file.put(each.name + ".weight", positions->weight.value());
  }
  return file;
}

Record description(const SavedModel& saved) {
  Record config = saved.config.to_record();
  if (saved.config.block.head_dim == 0) {
    config["head_dim"] = saved.config.block.width / saved.config.block.heads;
  }
  Record heads = Record::object();
  for (const NamedAttention& found : attentions(*saved.model)) {
    heads[found.name] = found.attention->alive();
  }
  return {{"model", config}, {"live_heads", heads}, {"task", saved.about}};
}

}  // namespace

std::vector<std::filesystem::path> export_torch(const SavedModel& saved,
                                                const std::filesystem::path& folder) {
  require_plain_model(saved);
  const std::filesystem::path tensors = folder / "model.safetensors",
                              config = folder / "model.json", program = folder / "model.py";
  state_dict(*saved.model).write(tensors);
  write_file(config, description(saved).dump(2) + "\n");
  write_file(program, exports::model_py);
  return {tensors, config, program};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
