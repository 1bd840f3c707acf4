// Writing a model back into a folder that Hugging Face Transformers opens.
#pragma once

#include <filesystem>
#include <vector>

#include "headroom_foreign/folders/model_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The forms of a folder whose model has lost heads.
///
/// * `dense`: all matrices have the shapes of the full model. W_V, b_V and the columns of W_O of a
///   removed head are 0. So its output is 0, and so is the gradient of each of its parameters: W_V
///   and b_V get theirs through W_O, W_O through the values, W_Q and W_K through both. Whoever
///   trains the model on cannot bring the head back, and weight decay keeps zeros at 0. With W_O =
///   0 alone it would grow again from the first step. W_Q and W_K stay as they were in the source,
///   or are 0 if that was compact. config.json lists these heads under `zeroed_heads_key`, so that
///   they are known as removed when headroom opens the folder.
/// * `compact`: the matrices have the live heads only, and config.json lists the others in
///   `pruned_heads`, numbered as in the full model. This is what prune_heads() of Transformers 4
///   leaves; version 5 does not open it.
enum class FolderForm { dense, compact };

/// Throws UsageError where Transformers opens no folder of that form of this model: no compact one
/// of a Marian without some heads, and of an attention without any.
void require_form(const ModelFolder& source, Module& model, FolderForm form);

/// Writes a model into the folder `out`, which must exist, and returns the files. The model is one
/// that `source` describes, possibly with fewer heads and other numbers. Tensors that did not
/// change keep their bytes, types and files; without any change the files are copies. Numbers that
/// half precision would round are written in F32, and so is the type in config.json. Members of
/// config.json that are not read here, tokenizers and other files go along, the parts that
/// modules.json of sentence-transformers lists as well; weights in other formats do not.
/// config.json is written last: a folder without it is no model, so that a full disk leaves none
/// that looks whole.
///
/// Throws FileError; UsageError for a model that `source` does not describe; what require_form()
/// throws.
std::vector<std::filesystem::path> write_model_folder(const ModelFolder& source, Module& model,
                                                      FolderForm form,
                                                      const std::filesystem::path& out);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
