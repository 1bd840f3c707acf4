// The side of headroom in the comparison with Hugging Face Transformers.
//
//   folder_speed FOLDER [THREADS]
//
// reads a command from each line of the input and answers with a line of JSON, so that a driver
// can run two programs in turn (folder_speed.py beside this file):
//
//   load       opens the folder and reads its numbers
//   embed B T  computes embeddings of B texts of T tokens: mean hidden states, of length 1
//   step B T   trains on B texts of T tokens, with AdamW: to predict the next token, or masked
//              tokens, of which alone scores are computed
//
// The model is loaded by the first command; `seconds` and `processor_seconds` are those of the
// command alone. `loss` is the loss before the step, `first` the first number of the embeddings:
// both programs choose the same tokens, so that both must answer the same.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/frame/libraries.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/blas.hpp"
#include "headroom/ops/embedding.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/ops/shaping.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom_foreign/folders/model_folder.hpp"

using namespace headroom;

namespace {

/// Of every seven tokens one is masked.
constexpr Index masked_each = 7, masked_first = 3;

class Side {
 public:
  explicit Side(std::string path) : path_(std::move(path)) {}

  void load() {
    optimizer_.reset();
    model_.reset();
    model_ = open_model_folder(path_).load();
  }
  Module& model() {
    if (!model_) load();
    return *model_;
  }

  double embed(Index batch, Index length) {
    const auto* encoder = dynamic_cast<const TextEncoder*>(&model());
    if (encoder == nullptr) throw UsageError("embed needs an encoder");
    const NoGrad quiet;
    const Ids lengths(Shape{batch}, static_cast<std::int32_t>(length));
    const Ids ids = tokens(batch, length, encoder->config.source_vocabulary);
    const Tensor hidden = (*encoder)(ids, lengths);
    const Tensor total = sum(hidden * constant(ones({batch, length, 1})), {1});
    return double((total / sqrt(sum(total * total, {1}, true))).value()[0]);
  }

  double step(Index batch, Index length) {
    if (!optimizer_) {
      model().train();
      optimizer_ = std::make_unique<AdamW>(model());
    }
    optimizer_->zero_grad();
    const Tensor loss = loss_of(batch, length);
    loss.backward();
    optimizer_->step(1e-4);
    return double(loss.value()[0]);
  }

 private:
  static Ids tokens(Index batch, Index length, Index vocabulary) {
    Ids ids({batch, length});
    for (Index i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<std::int32_t>(1 + i * 7919 % (vocabulary - 2));
    }
    return ids;
  }

  Tensor loss_of(Index batch, Index length) {
    if (const auto* decoder = dynamic_cast<const LanguageModel*>(&model())) {
      const Ids ids = tokens(batch, length, decoder->config.source_vocabulary);
      Ids labels({batch, length}, -100);
      for (Index i = 0; i < ids.size(); ++i) {
        if ((i + 1) % length != 0) labels[i] = ids[i + 1];
      }
      return cross_entropy((*decoder)(ids), labels);
    }
    const auto* masked = dynamic_cast<const MaskedLanguageModel*>(&model());
    if (masked == nullptr) throw UsageError("step needs a language model or a masked one");
    const Index vocabulary = masked->config.source_vocabulary;
    Ids ids = tokens(batch, length, vocabulary);
    std::vector<std::int32_t> places, hidden_tokens;
    for (Index i = masked_first; i < ids.size(); i += masked_each) {
      places.push_back(static_cast<std::int32_t>(i));
      hidden_tokens.push_back(ids[i]);
      ids[i] = static_cast<std::int32_t>(vocabulary - 1);
    }
    const Shape count{std::ssize(places)};
    const Ids lengths(Shape{batch}, static_cast<std::int32_t>(length));
    const Tensor states = masked->TextEncoder::operator()(ids, lengths);
    const Tensor flat = reshape(states, {batch * length, states.dim(2)});
    return cross_entropy(masked->predict(embedding(flat, Ids(count, places))),
                         Ids(count, hidden_tokens));
  }

  std::string path_;
  std::unique_ptr<Module> model_;
  std::unique_ptr<AdamW> optimizer_;
};

/// The answer to a command, without its time.
std::string answer(Side& side, const std::string& line) {
  std::istringstream words(line);
  std::string command;
  Index batch = 0, length = 0;
  words >> command;
  if (command == "load") {
    side.load();
    Index parameters = 0;
    for (const NamedParameter& each : headroom::parameters(side.model())) {
      parameters += each.tensor.size();
    }
    return fmt::format("\"parameters\": {}, \"blas\": \"{}\"", parameters, blas_description());
  }
  if (words >> batch >> length && batch > 0 && length > 0) {
    if (command == "embed") return fmt::format("\"first\": {}", side.embed(batch, length));
    if (command == "step") return fmt::format("\"loss\": {}", side.step(batch, length));
  }
  throw UsageError("a command is load, embed B T or step B T, not: " + line);
}

}  // namespace

int main(int count, char** arguments) {
  set_up_libraries(arguments);
  if (count < 2 || count > 3) {
    fmt::print(stderr, "usage: folder_speed FOLDER [THREADS]\n");
    return 2;
  }
  try {
    set_num_threads(count == 3 ? std::atoi(arguments[2]) : 2);
    Side side(arguments[1]);
    for (std::string line; std::getline(std::cin, line);) {
      if (line != "load") side.model();
      const auto begin = std::chrono::steady_clock::now();
      const std::clock_t clock = std::clock();
      const std::string result = answer(side, line);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      const double processor = double(std::clock() - clock) / CLOCKS_PER_SEC;
      fmt::print("{{\"seconds\": {:.6f}, \"processor_seconds\": {:.6f}, {}}}\n", seconds.count(),
                 processor, result);
      std::fflush(stdout);
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
