// microgpt: Karpathy's smallest GPT, one layer of width 16 with 4 heads, RMS norm, ReLU, no biases,
// on a list of names. Built from operations only, so that the whole model is visible.
// usage: microgpt [NAMESFILE] [STEPS=500]
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "headroom/autograd/tape.hpp"
#include "headroom/data/file_tasks.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/nn/module.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/adam.hpp"

using namespace headroom;

constexpr Index width = 16, heads = 4, longest = 16, head_dim = width / heads;

class MicroGpt : public Module {
 public:
  MicroGpt(Index tokens, Rng& rng) {
    const auto matrix = [&](Index rows, Index columns) {
      return parameter(normal({rows, columns}, Real(0.08), rng));
    };
    wte = matrix(tokens, width);
    wpe = matrix(longest, width);
    lm_head = matrix(tokens, width);
    attn_wq = matrix(width, width);
    attn_wk = matrix(width, width);
    attn_wv = matrix(width, width);
    attn_wo = matrix(width, width);
    mlp_fc1 = matrix(4 * width, width);
    mlp_fc2 = matrix(width, 4 * width);
  }

  /// ids [1, T] -> logits [1, T, V]
  Tensor operator()(const Ids& ids) const {
    Tensor x = rms_norm(embedding(wte, ids) + slice(wpe, 0, 0, ids.dim(1)), {});
    const Tensor n = rms_norm(x, {});
    const AttentionOptions causal{.mask = AttentionMask::causal()};
    const Tensor seen = attention({linear(n, attn_wq)}, {linear(n, attn_wk)}, {linear(n, attn_wv)},
                                  heads, head_dim, head_dim, causal);
    x = x + linear(seen, attn_wo);
    x = x + linear(relu(linear(rms_norm(x, {}), mlp_fc1)), mlp_fc2);
    return linear(x, lm_head);
  }

  void members(Members& visit) override {
    visit("wte", wte);
    visit("wpe", wpe);
    visit("lm_head", lm_head);
    visit("layer0.attn_wq", attn_wq);
    visit("layer0.attn_wk", attn_wk);
    visit("layer0.attn_wv", attn_wv);
    visit("layer0.attn_wo", attn_wo);
    visit("layer0.mlp_fc1", mlp_fc1);
    visit("layer0.mlp_fc2", mlp_fc2);
  }
  std::string title() const override { return "MicroGpt"; }

  Tensor wte, wpe, lm_head, attn_wq, attn_wk, attn_wv, attn_wo, mlp_fc1, mlp_fc2;
};

/// Some first names, for when no file is given.
const char* const built_in =
    "anna ben clara david emma felix greta henry ida jonas karla leo mia noah olivia paul quinn "
    "rosa "
    "samuel tilda uma victor wilma xaver yara zoe adam bella carl dora emil frida georg hanna igor "
    "julia kurt lena maria nina oskar petra rudi sara tom ulla vera walter alma bruno celia dario "
    "elena fabio gina hugo irene jakob kira luca marta nico otto paula ralf simona theo ursula";

/// <bos> and letters; <bos> marks both ends of a name.
struct Names {
  Vocabulary letters;
  std::vector<Tokens> list;
};

Names built_in_names() {
  const Vocabulary words = Vocabulary::of_text(TokenKind::words, Specials::none, built_in);
  std::string all;
  for (std::int32_t i = 0; i < words.size(); ++i) all += words.token(i);
  Names names{Vocabulary::of_text(TokenKind::characters, Specials::bos, all), {}};
  for (std::int32_t i = 0; i < words.size(); ++i)
    names.list.push_back(names.letters.encode(words.token(i)));
  return names;
}

Names names_from(const char* path) {
  NameList read = read_names({.data = path});
  return {read.vocabulary, std::move(read.names)};
}

std::string write_name(const MicroGpt& model, const Vocabulary& letters, Rng& rng) {
  const NoGrad quiet;
  Tokens ids{letters.bos()};
  while (Index(ids.size()) < longest) {
    const auto length = Index(ids.size());
    const Tensor logits = model(Ids({1, length}, std::span<const std::int32_t>(ids)));
    const Tensor chances =
        softmax(slice(logits, 1, length - 1, length) * Real(2));  // temperature 0.5
    Real left = rng.uniform();
    std::int32_t next = 0;
    while (next + 1 < letters.size() && (left -= chances.value()[next]) >= 0) ++next;
    if (next == letters.bos()) break;
    ids.push_back(next);
  }
  return letters.decode(std::span(ids).subspan(1));
}

int main(int argc, char** argv) {
  const Names names = argc > 1 ? names_from(argv[1]) : built_in_names();
  const Index steps = argc > 2 ? std::atol(argv[2]) : 500;
  Rng init(42, "init"), shuffle(42, "data"), draws(42, "sampling");
  MicroGpt model(names.letters.size(), init);
  std::printf("%zu names, %ld tokens, %ld parameters\n", names.list.size(),
              static_cast<long>(names.letters.size()), static_cast<long>(count_parameters(model)));

  Adam optimizer(model, {.beta1 = 0.85, .beta2 = 0.99});
  double mean = 0;
  for (Index step = 0; step < steps; ++step) {
    const Tokens& name =
        names.list[static_cast<std::size_t>(shuffle.below(Index(names.list.size())))];
    Tokens read{names.letters.bos()}, said(name);
    read.insert(read.end(), name.begin(), name.end());
    said.push_back(names.letters.bos());
    const auto length = std::min<Index>(longest, Index(read.size()));
    const Tensor loss = cross_entropy(
        model(Ids({1, length},
                  std::span<const std::int32_t>(read).first(static_cast<std::size_t>(length)))),
        Ids({1, length},
            std::span<const std::int32_t>(said).first(static_cast<std::size_t>(length))));
    mean += (double(loss.item()) - mean) / double(std::min<Index>(step + 1, 100));
    if ((step + 1) % 100 == 0)
      std::printf("step %4ld / %ld  loss %.3f\n", static_cast<long>(step + 1),
                  static_cast<long>(steps), mean);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step(0.01 * (1 - double(step) / double(steps)));
  }
  for (int i = 0; i < 10; ++i)
    std::printf("  %s\n", write_name(model, names.letters, draws).c_str());
  return mean < 2.8 ? 0 : 1;
}
