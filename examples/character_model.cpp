// A character model: a small language model memorises a text and generates text in its style.
// usage: character_model [TEXTFILE] [STEPS=150]
#include <cstdio>
#include <cstdlib>
#include <string>

#include "headroom/data/batches.hpp"
#include "headroom/data/text_lines.hpp"
#include "headroom/nn/decoding.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/train/objectives.hpp"

using namespace headroom;

const char* const built_in =
    "A head looks at every word and asks how much each of them matters to it. The answers are "
    "weights, and the weights sum to one. Another head asks another question of the same words. "
    "What all of them found stands side by side and is mixed by one last matrix. Take a head away "
    "and the others go on; take half of them away while the model still learns, and it often does "
    "not mind. Which heads matter, and when, is what this framework is for.\n";

int main(int argc, char** argv) {
  const std::string text = argc > 1 ? read_text(argv[1]) : built_in;
  const Index steps = argc > 2 ? std::atol(argv[2]) : 150;
  const Vocabulary letters = Vocabulary::of_text(TokenKind::characters, Specials::none, text);
  const Tokens tokens = letters.encode(text);

  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.block = {.width = 64, .heads = 4, .activation = Activation::gelu};
  config.positions = PositionKind::learned;
  config.source_vocabulary = letters.size();
  config.longest = 48;
  config.tied_output = true;
  Rng rng(1, "init");
  LanguageModel model(config, rng);

  AdamW optimizer(model);
  double last = 0;
  for (Index step = 0; step < steps; ++step) {
    const TextBatch batch = random_windows(tokens, 16, 48, 1, step);
    const Tensor loss = training_loss(model, batch);
    last = double(loss.item());
    if (step % 50 == 0) std::printf("step %3ld  loss %.3f\n", static_cast<long>(step), last);
    optimizer.zero_grad();
    loss.backward();
    clip_grad_norm(model, 1);
    optimizer.step(3e-3);
  }

  model.eval();
  const Tokens start = letters.encode(text.substr(0, 8));
  const auto writer = make_writer(model, 1);
  Rng draws(1, "sampling");
  const auto written = sample(*writer, {.longest = 40}, {.temperature = Real(0.5)}, draws,
                              Ids({1, 8}, std::span<const std::int32_t>(start)));
  std::printf("%s|%s\n", letters.decode(start).c_str(), letters.decode(written[0].ids).c_str());
  return last < 1.5 ? 0 : 1;
}
