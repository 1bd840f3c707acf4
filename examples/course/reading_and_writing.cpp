// Reading and writing: the numbers of chapter 10. Small encoder-decoders learn to write words
// backwards, some of them with a decoder that sees what it should predict; then the three masks, as
// the maps of a trained model show them, and schedules of the learning rate.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "facts.hpp"
#include "figure.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/nn/decoding.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/optim/rate.hpp"
#include "headroom/train/evaluation.hpp"
#include "range.hpp"

using namespace headroom;

namespace {

const Vocabulary letters = Vocabulary::of_text(TokenKind::characters, Specials::all, "abcdefgh");

ModelConfig small_model() {
  ModelConfig config;
  config.block = {.width = 32, .heads = 2, .hidden = 64};
  config.layers = 1;
  config.source_vocabulary = config.target_vocabulary = letters.size();
  config.longest = 16;
  return config;
}

/// Words of 3 to 6 letters, and the same words backwards. There are about 300,000.
std::vector<Seq2SeqExample> words(Index count, Rng& rng) {
  std::vector<Seq2SeqExample> set;
  for (Index i = 0; i < count; ++i) {
    Tokens word(static_cast<std::size_t>(3 + rng.below(4)));
    for (std::int32_t& id : word) id = static_cast<std::int32_t>(4 + rng.below(8));
    set.push_back({word, Tokens(word.rbegin(), word.rend())});
  }
  return set;
}

std::vector<Index> first(Index count) {
  std::vector<Index> indices;
  for (Index i = 0; i < count; ++i) indices.push_back(i);
  return indices;
}

double largest_difference(const Array& a, const Array& b) {
  double most = 0;
  for (Index i = 0; i < a.size(); ++i) most = std::max(most, std::abs(double(a[i]) - double(b[i])));
  return most;
}

// ---------------------------------------------------------------- decoders that see too much

/// How a decoder is trained.
enum class Way { right, not_shifted, no_causal_mask, pads_count };

/// All examples of a set.
Seq2SeqBatch batch_of(const std::vector<Seq2SeqExample>& set, Way way) {
  Seq2SeqBatch batch = make_batch(set, first(std::ssize(set)), letters, letters);
  if (way == Way::not_shifted) {
    for (Index i = 0; i < batch.labels.size(); ++i) {
      batch.target_in[i] = batch.labels[i] == ignored_label ? letters.pad() : batch.labels[i];
    }
  }
  if (way == Way::pads_count) {
    for (std::int32_t& label : batch.labels.span()) {
      if (label == ignored_label) label = letters.pad();
    }
  }
  return batch;
}

Tensor logits_of(const Seq2Seq& model, const Seq2SeqBatch& batch, Way way) {
  if (way != Way::no_causal_mask) {
    return model(batch.source, batch.source_lengths, batch.target_in);
  }
  const AttentionMask padding = AttentionMask::lengths(batch.source_lengths);
  const Tensor memory = model.encode(model.embed_source(batch.source), batch.source_lengths);
  return (*model.output)(model.decoder(model.embed_target(batch.target_in), memory,
                                       AttentionMask::lengths(batch.target_lengths), padding));
}

Tensor loss_of(const Seq2Seq& model, const Seq2SeqBatch& batch, Way way) {
  return cross_entropy(logits_of(model, batch, way), batch.labels, {.ignore_index = ignored_label});
}

/// The scores of a model on words that it has not learned from.
struct Score {
  double loss = 0;          // as the training counts it
  double without_pads = 0;  // of the labels that are not padding
  double other_source = 0;  // the loss when every source is replaced by another one
  double tokens = 0;        // share of the labels that are the best guess
  double exact = 0;         // share of the words that are written without a mistake
};

Score score_of(Seq2Seq& model, Way way, Rng& data) {
  const Evaluating now(model);
  const std::vector<Seq2SeqExample> set = words(200, data);
  std::vector<Seq2SeqExample> mixed = set;
  for (std::size_t i = 0; i < set.size(); ++i) mixed[i].source = set[(i + 1) % set.size()].source;
  Score score;
  const Seq2SeqBatch batch = batch_of(set, way);
  const Way true_labels = way == Way::pads_count ? Way::right : way;
  score.loss = double(loss_of(model, batch, way).item());
  score.without_pads = double(loss_of(model, batch_of(set, true_labels), true_labels).item());
  score.other_source = double(loss_of(model, batch_of(mixed, way), way).item());
  const Ids best = argmax(logits_of(model, batch, way).value());
  Index labels = 0, right = 0;
  for (Index i = 0; i < best.size(); ++i) {
    labels += batch.labels[i] == ignored_label ? 0 : 1;
    right += best[i] == batch.labels[i] ? 1 : 0;
  }
  score.tokens = double(right) / double(labels);
  std::vector<Tokens> sources;
  for (const Seq2SeqExample& example : set) sources.push_back(example.source);
  const auto written = outputs_for(model, sources, letters, letters, 10);
  for (std::size_t i = 0; i < set.size(); ++i) {
    score.exact += written[i][0].ids == set[i].target ? 1.0 / double(set.size()) : 0;
  }
  return score;
}

/// A model in training.
struct Student {
  Student(Way how, std::uint64_t seed)
      : way(how), rng(seed, "reading"), data(seed, "words"), model(small_model(), rng) {}

  /// Trains for all steps, and returns the scores after the first `early` ones and at the end.
  std::pair<Score, Score> train(Index steps, RateShape shape, Index early = -1) {
    AdamW adam(model, {.beta2 = 0.98, .weight_decay = 0.01});
    const RateSchedule rate(
        RateOptions{.shape = shape, .peak = 0.005, .warmup = 20, .steps = steps});
    Score at_first;
    for (Index step = 0; step < steps; ++step) {
      if (step == early) at_first = score_of(model, way, data);
      const Tensor loss = loss_of(model, batch_of(words(64, data), way), way);
      adam.zero_grad();
      loss.backward();
      clip_grad_norm(model, 1);
      adam.step(rate(step));
    }
    return {at_first, score_of(model, way, data)};
  }
  std::string write(const std::string& word) {
    const Tokens source = letters.encode(word);
    return letters.decode(outputs_for(model, {&source, 1}, letters, letters, 10)[0][0].ids);
  }

  Way way;
  Rng rng, data;
  Seq2Seq model;
};

/// Scores of five trainings.
struct Class {
  Class(Way way, Index steps, RateShape shape, Index early = -1) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Student student(way, seed);
      const auto [first, last] = student.train(steps, shape, early);
      early_tokens.add(first.tokens);
      early_exact.add(first.exact);
      loss.add(last.loss);
      without_pads.add(last.without_pads);
      share_of_loss.add(last.loss / last.without_pads);
      other_source.add(last.other_source);
      exact.add(last.exact);
      if (seed == 1) example = student.write("beach");
    }
  }
  Range loss, without_pads, share_of_loss, other_source, exact, early_tokens, early_exact;
  std::string example;
};

// ---------------------------------------------------------------- masks

/// Two words of unequal lengths, and what the model makes of them.
struct Pair {
  Pair()
      : set({{letters.encode("cab"), letters.encode("bac")},
             {letters.encode("headed"), letters.encode("dedaeh")}}),
        batch(make_batch(set, {0, 1}, letters, letters)) {}
  std::vector<Seq2SeqExample> set;
  Seq2SeqBatch batch;
};

/// The lines of a map, the mean of all heads: '.' for a weight of 0, ':' for others, '#' for at
/// least a third.
std::vector<std::string> drawn(const Array& maps, Index example) {
  const Index heads = maps.dim(1), rows = maps.dim(2), columns = maps.dim(3);
  std::vector<std::string> lines;
  for (Index i = 0; i < rows; ++i) {
    std::string line;
    for (Index j = 0; j < columns; ++j) {
      Real weight = 0;
      for (Index h = 0; h < heads; ++h) {
        weight += maps[((example * heads + h) * rows + i) * columns + j] / Real(heads);
      }
      line += weight == 0 ? '.' : weight < Real(1) / 3 ? ':' : '#';
    }
    lines.push_back(line);
  }
  return lines;
}

double cells(const std::vector<std::string>& lines) {
  Index count = 0;
  for (const std::string& line : lines) {
    count += std::ssize(line) - std::count(line.begin(), line.end(), '.');
  }
  return double(count);
}

void measure_masks(Seq2Seq& model) {
  const Evaluating now(model);
  const Pair pair;
  const Seq2SeqBatch& batch = pair.batch;
  HeadProbe probe;
  probe.maps = true;
  const Array together = model(batch.source, batch.source_lengths, batch.target_in, &probe).value();
  const auto map_of = [&](AttentionKind kind) {
    return drawn(probe.seen.at({kind, 0}).maps.value(), 0);
  };
  const auto encoder = map_of(AttentionKind::encoder_self),
             own = map_of(AttentionKind::decoder_self), cross = map_of(AttentionKind::cross);
  std::printf("maps of \"cab\", in a batch with \"headed\"\n");
  std::printf("encoder   decoder    cross\n");
  for (std::size_t i = 0; i < own.size(); ++i) {
    std::printf("%-8s  %-9s  %s\n", i < encoder.size() ? encoder[i].c_str() : "", own[i].c_str(),
                cross[i].c_str());
  }
  claim("cells of the encoder's map", cells(encoder), 18, 18);
  claim("cells of the decoder's map", cells(own), 28, 28);
  claim("cells of the cross map", cells(cross), 21, 21, "10/d");

  // The same word alone.
  const Seq2SeqBatch one = make_batch(pair.set, {0}, letters, letters);
  const Array alone = model(one.source, one.source_lengths, one.target_in).value();
  const auto real_rows = [&](const Array& logits) {  // of "cab", without padding
    return slice(slice(logits, {0, 0, 1}), {1, 0, 4});
  };
  claim("alone or in a batch", largest_difference(alone, real_rows(together)), 0, 1e-9);
  const Tensor memory = model.encode(model.embed_source(batch.source), batch.source_lengths);
  const Tensor unmasked = model.decoder(model.embed_target(batch.target_in), memory,
                                        AttentionMask::causal(), AttentionMask::none());
  part("10/e");
  claim("without memory_mask",
        largest_difference(alone, real_rows((*model.output)(unmasked).value())), 0.01, 100, "10/e");
  // The target: another token where padding was, then another last letter.
  const auto changed = [&](Index position) {
    Ids target = batch.target_in.clone();
    target[position] = letters.encode("g")[0];
    return model(batch.source, batch.source_lengths, target).value();
  };
  part("");  // answers nothing: shown in any case
  claim("other padding in target_in", largest_difference(alone, real_rows(changed(5))), 0, 1e-9);
  const Array other = real_rows(changed(3));
  claim("another last letter: before it",
        largest_difference(slice(alone, {1, 0, 3}), slice(other, {1, 0, 3})), 0, 1e-9);
  claim("another last letter: after it",
        largest_difference(slice(alone, {1, 3, 4}), slice(other, {1, 3, 4})), 0.01, 100);

  // The same logits, token by token.
  const auto writer = make_writer(model, one.source, one.source_lengths);
  double most = 0;
  for (Index t = 0; t < 4; ++t) {
    const Array step = writer->next(Ids({1, 1}, one.target_in[t]));
    most = std::max(most, largest_difference(step.reshaped({1, 1, letters.size()}),
                                             slice(alone, {1, t, t + 1})));
  }
  claim("one pass or token by token", most, 0, 1e-9);
}

// ---------------------------------------------------------------- learning rates

void measure_rates() {
  constexpr Index steps = 40, warmup = 8, rows = 4;
  std::printf("learning rate of 40 steps\n");
  for (const RateShape shape : {RateShape::cosine, RateShape::inverse_root}) {
    const RateSchedule rate(
        RateOptions{.shape = shape, .peak = 1, .warmup = warmup, .steps = steps});
    for (Index row = rows; row > 0; --row) {
      std::string line;
      for (Index s = 0; s < steps; ++s) {
        line += rate(s) > (double(row) - 0.5) / double(rows) ? '#' : '.';
      }
      std::printf("%-14s %s\n", row == rows ? name_of(shape) : "", line.c_str());
    }
  }
  const double width = 512, paper_warmup = 4000;
  const RateSchedule paper(RateOptions{.shape = RateShape::inverse_root,
                                       .peak = 1 / std::sqrt(width * paper_warmup),
                                       .warmup = Index(paper_warmup)});
  claim("the paper's first rate", paper(0), 1.7e-7, 1.8e-7);
  claim("the paper's highest rate", paper(3999), 6.9e-4, 7.0e-4);
}

// ---------------------------------------------------------------- the figure

double thousandths(double share) { return std::round(share * 1000) / 1000; }

/// Writes the record of the figure: for some words and each letter that the model generates, the
/// row of the cross-attention's map of each head and the probabilities of all tokens.
void write_alignments(Seq2Seq& model) {
  if (!figure_wanted()) return;
  const Evaluating now(model);
  Record all = Record::array();
  for (const char* word : {"cab", "face", "beach", "headed", "cabbage"}) {
    const Tokens source = letters.encode(word);
    const Index length = std::ssize(source);
    const Ids read({1, length}, source), lengths({1}, std::int32_t(length));
    Tokens target{letters.bos()};
    Record rows = Record::array();
    while (target.back() != letters.eos() && std::ssize(target) <= 10) {
      HeadProbe probe;
      probe.maps = true;
      const Ids so_far({1, std::ssize(target)}, target);
      const Array logits = model(read, lengths, so_far, &probe).value();
      const Array maps = probe.seen.at({AttentionKind::cross, 0}).maps.value();
      const Index last = std::ssize(target) - 1, size = letters.size();
      Record heads = Record::array(), chances = Record::array();
      for (Index head = 0; head < maps.dim(1); ++head) {
        Record weights = Record::array();
        for (Index k = 0; k < length; ++k) {
          const Index row = head * std::ssize(target) + last;
          weights.push_back(thousandths(double(maps[row * length + k])));
        }
        heads.push_back(weights);
      }
      const Real* row = logits.data() + last * size;
      double sum = 0;
      for (Index token = 0; token < size; ++token) sum += std::exp(double(row[token]));
      for (Index token = 0; token < size; ++token) {
        chances.push_back(thousandths(std::exp(double(row[token])) / sum));
      }
      target.push_back(std::int32_t(std::max_element(row, row + size) - row));
      rows.push_back({{"writes", target.back()}, {"heads", heads}, {"chances", chances}});
    }
    all.push_back({{"word", word}, {"rows", rows}});
  }
  Record tokens = Record::array();
  for (std::int32_t id = 0; id < letters.size(); ++id) tokens.push_back(letters.token(id));
  write_figure({{"tokens", tokens}, {"words", all}});
}

}  // namespace

int main() {
  set_num_threads(1);  // the models are small, and the results do not depend on the threads
  std::printf("words backwards, five seeds\n");
  const Class not_shifted(Way::not_shifted, 100, RateShape::constant);
  const Class no_mask(Way::no_causal_mask, 150, RateShape::constant);
  const Class pads(Way::pads_count, 100, RateShape::constant);
  const Class constant(Way::right, 400, RateShape::constant, 100);
  const Class right(Way::right, 400, RateShape::cosine);
  part("10/a", "10/b");
  claim("not shifted: loss", not_shifted.loss.middle(), 0, 0.02, "10/a");
  claim("not shifted: exact", not_shifted.exact.most, 0, 0.02, "10/b");
  claim("not shifted: other source", not_shifted.other_source.middle(), 0, 0.05);
  claim("no causal mask: loss", no_mask.loss.middle(), 0, 0.1);
  claim("no causal mask: exact", no_mask.exact.most, 0, 0.02);
  claim("shifted: exact", right.exact.middle(), 0.95, 1);
  claim("shifted: least of five exact", right.exact.least, 0.9, 1);
  claim("shifted: other source", right.other_source.middle(), 3, 20);
  std::printf("beach, shifted                   %s\n", right.example.c_str());
  std::printf("beach, not shifted               %s\n", not_shifted.example.c_str());
  const Seq2SeqBatch batch = [] {
    part("");  // answers nothing: shown in any case
    Rng data(1, "share");
    return batch_of(words(1000, data), Way::right);
  }();
  claim("share of padding in labels", 1 - double(batch.target_tokens) / double(batch.labels.size()),
        0.15, 0.3);
  part("10/c");
  claim("pads count: loss it reports", pads.loss.middle(), 0.05, 1);
  claim("pads count: loss of the words", pads.without_pads.middle(), 0.05, 1);
  claim("pads count: reported / real", pads.share_of_loss.most, 0.6, 0.9, "10/c");

  Student student(Way::right, 1);
  student.train(400, RateShape::cosine);
  part("10/d");
  measure_masks(student.model);

  part("");
  std::printf("after 100 steps, then after 400\n");
  claim("tokens right, given the truth", constant.early_tokens.middle(), 0.8, 0.97);
  part("10/f");
  claim("words exactly right", constant.early_exact.middle(), 0.3, 0.85, "10/f");
  part("");  // answers nothing: shown in any case
  claim("constant rate: loss", constant.loss.middle(), 0.01, 0.2);
  part("10/g");
  claim("cosine: loss", right.loss.middle(), 0, 0.05, "10/g");
  claim("constant rate: exact", constant.exact.middle(), 0.7, 0.98);
  claim("cosine: exact", right.exact.middle(), 0.95, 1);
  part("");
  measure_rates();
  write_alignments(student.model);
  return finish();
}
