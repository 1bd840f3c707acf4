// The state of a model in a checkpoint, in addition to its parameters. Private.
#pragma once

#include <filesystem>
#include <vector>

#include "headroom/io/stateful.hpp"
#include "headroom/io/tensor_file.hpp"
#include "headroom/nn/models.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Reads a checkpoint, verifies its checksums, and gives the parameters of language models and
/// their moments their present names: their stack was once called `encoder`. Throws FileError.
TensorFile read_checkpoint(const std::filesystem::path& path);

/// The heads a saved model had lost. Throws FileError.
std::vector<HeadId> read_removed(const StateReader& from);

/// The configuration of one of the models of nn/models.hpp, nullptr for any other module.
const ModelConfig* config_of(const Module& model);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
