// folder_states FOLDER IN OUT: what the model of a folder computes, for scripts that compare it
// with other programs.
//
// IN is a safetensors file with `ids` and `mask` [B, T] (1: a token, 0: padding) and, for
// gradients, `cotangent` [B, T, C]. OUT gets `hidden` [B, T, C], the encoder's hidden states, and
// the gradient of sum(hidden * cotangent) by each parameter under its name in the folder.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "headroom/base/error.hpp"
#include "headroom/io/tensor_file.hpp"
#include "headroom_foreign/folders/model_folder.hpp"

using namespace headroom;

int main(int count, char** arguments) {
  if (count != 4) {
    fmt::print(stderr, "usage: folder_states FOLDER IN OUT\n");
    return 2;
  }
  try {
    const auto begin = std::chrono::steady_clock::now();
    const ModelFolder folder = open_model_folder(arguments[1]);
    const std::unique_ptr<Module> owner = folder.load();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    fmt::print("loaded in {:.3f} s\n", seconds.count());
    const auto& model = dynamic_cast<const TextEncoder&>(*owner);

    const TensorFile in = TensorFile::read(arguments[2]);
    const Ids ids = in.ids("ids"), mask = in.ids("mask");
    const Index batch = ids.dim(0), time = ids.dim(1);
    Bytes allowed({batch, time, time});
    for (Index b = 0; b < batch; ++b) {
      for (Index i = 0; i < time; ++i) {
        for (Index j = 0; j < time; ++j) {
          allowed[(b * time + i) * time + j] = mask[b * time + j] != 0 ? 1 : 0;
        }
      }
    }
    const Tensor hidden = model.encode(model.embed(ids), AttentionMask::allow(allowed));
    TensorFile out;
    out.put("hidden", hidden.value());
    if (in.has("cotangent")) {
      hidden.backward(in.array("cotangent", Rounding::allow));
      for (const auto& [name, gradient] :
           in_foreign_names(*owner, *folder.names, folder.with_prefix, true)) {
        out.put("grad." + name, gradient);
      }
    }
    out.write(arguments[3]);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
