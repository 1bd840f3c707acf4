// Planted heads: their tasks, weights and model.
#include "lab/planted_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headroom/base/at.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/shaping.hpp"
#include "lab/head_shares.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The parts of the stream, D features each.
enum Part : Index { letter, position, extra, answer };

/// Embeddings are larger than the outputs of heads, so that noise heads disturb them less.
constexpr Real embedded = 2;
/// The score of a matching key above the others, of two embeddings.
constexpr double match = 50;
constexpr Real logit_scale = 8;

/// Sets the features of one token of an example.
class Token {
 public:
  Token(Array& x, Index row, Index letters) : to_(x.data() + row * x.dim(2)), letters_(letters) {}
  void set(Part part, Index feature) const { to_[part * letters_ + feature] = embedded; }

 private:
  Real* to_;
  Index letters_;
};

/// One example: what its labels are and which keys they need.
struct Drawn {
  std::vector<Index> letters, labels;  // by position; -1: none
  std::vector<std::vector<Index>> keys;
  std::vector<Index> open, close;  // depth of the bracket; -1: none

  Drawn(Index count, std::size_t roles)
      : letters(static_cast<std::size_t>(count)),
        labels(letters.size(), -1),
        keys(roles, labels),
        open(labels),
        close(labels) {}
};

Drawn draw_previous(Index count, Rng& rng) {
  Drawn one(count, 1);
  for (Index& letter_at : one.letters) letter_at = rng.below(count);
  for (std::size_t t = 1; t < one.letters.size(); ++t) {
    one.labels[t] = one.letters[t - 1];
    one.keys[0][t] = Index(t) - 1;
  }
  return one;
}

/// Position 0 has no letter, because no letter is before it.
Drawn draw_induction(Index count, Rng& rng) {
  Drawn one = draw_previous(count, rng);
  one.letters[0] = -1;
  one.keys.emplace_back(one.letters.size(), -1);
  std::fill(one.labels.begin(), one.labels.end(), -1);
  for (std::size_t t = 1; t < one.letters.size(); ++t) {
    const auto begin = one.letters.begin(), here = begin + Index(t);
    const auto first = std::find(begin, here, *here);
    if (first >= here - 1 || std::count(begin, here, *here) != 1) continue;
    one.keys[1][t] = first - begin + 1;
    one.labels[t] = at(one.letters, one.keys[1][t]);
  }
  return one;
}

/// One nest of brackets, so that no two of them have the same depth, at random positions.
Drawn draw_brackets(Index count, Rng& rng) {
  Drawn one(count, 1);
  for (Index& letter_at : one.letters) letter_at = rng.below(count);
  const Index pairs = 1 + rng.below(count / 2);
  std::vector<Index> places = random_order(count, rng);
  places.resize(static_cast<std::size_t>(2 * pairs));
  std::sort(places.begin(), places.end());
  for (Index depth = 0; depth < pairs; ++depth) {
    const Index opening = at(places, depth), closing = at(places, 2 * pairs - 1 - depth);
    at(one.open, opening) = at(one.close, closing) = depth;
    at(one.labels, closing) = at(one.letters, opening);
    at(one.keys[0], closing) = opening;
  }
  return one;
}

Drawn draw_copying(Index count, Rng& rng) {
  Drawn one(count, 1);
  for (Index& letter_at : one.letters) letter_at = rng.below(count);
  one.labels = one.letters;
  std::iota(one.keys[0].begin(), one.keys[0].end(), Index{0});
  return one;
}

Drawn draw(PlantedTask task, Index count, Rng& rng) {
  switch (task) {
    case PlantedTask::previous_token: return draw_previous(count, rng);
    case PlantedTask::induction: return draw_induction(count, rng);
    case PlantedTask::bracket_partner: return draw_brackets(count, rng);
    case PlantedTask::copying: break;
  }
  return draw_copying(count, rng);
}

bool has_label(const Drawn& one) {
  return std::any_of(one.labels.begin(), one.labels.end(), [](Index l) { return l >= 0; });
}

/// Rows that read `count` features of a part, from `first` on, cyclically: [D, C].
Array reading(Index letters, Index width, Part part, Index first, Index count, Real scale) {
  Array rows = zeros({letters, width});
  for (Index i = 0; i < count; ++i) {
    rows[i * width + part * letters + (first + i) % letters] = scale;
  }
  return rows;
}

/// Attends where `count` features of a query's part are those of a key's part, and copies the
/// letter into the part `to`.
HeadArrays matching(Index letters, Index width, std::pair<Part, Index> query,
                    std::pair<Part, Index> key, Index count, Part to) {
  const Real scale = Real(std::sqrt(match * std::sqrt(double(letters))) / double(embedded));
  Array output = zeros({width, letters});
  for (Index i = 0; i < letters; ++i) output[(to * letters + i) * letters + i] = 1;
  return {{HeadRole::query, reading(letters, width, query.first, query.second, count, scale)},
          {HeadRole::key, reading(letters, width, key.first, key.second, count, scale)},
          {HeadRole::value, reading(letters, width, letter, 0, letters, 1 / embedded)},
          {HeadRole::output, output}};
}

Array noise_like(const Array& planted, Rng& rng) {
  Array noise = normal(planted.shape(), 1, rng);
  const double factor = norm(planted) / norm(noise);
  for (Index i = 0; i < noise.size(); ++i) noise[i] = Real(double(noise[i]) * factor);
  return noise;
}

/// `planted` mixed with noise, of the same norm: at strength 1 nothing is mixed in.
Array mixed(const Array& planted, double strength, Rng& rng) {
  const Array noise = noise_like(planted, rng);
  const double rest = std::sqrt(1 - strength * strength);
  Array mix(planted.shape());
  for (Index i = 0; i < mix.size(); ++i) {
    mix[i] = Real(strength * double(planted[i]) + rest * double(noise[i]));
  }
  const double factor = norm(planted) / norm(mix);
  for (Real& x : mix.span()) x = Real(double(x) * factor);
  return mix;
}

/// The strengths that are drawn: induction fails where one of its two heads is weak.
std::pair<Real, Real> strengths_of(PlantedTask task) {
  if (task == PlantedTask::induction) return {Real(0.6), Real(1)};
  return {Real(0.3), Real(0.9)};
}

}  // namespace

const char* name_of(PlantedTask task) {
  constexpr const char* names[] = {"previous token", "induction", "bracket partner", "copying"};
  return names[static_cast<std::size_t>(task)];
}

PlantedExamples draw_examples(PlantedTask task, Index count, Index letters, Index width, Rng& rng) {
  const bool encodes = task == PlantedTask::copying;
  PlantedExamples examples{zeros({count, letters, width}), {}, Ids({count, letters}), {}};
  if (encodes) examples.memory = zeros({count, letters, width});
  for (Index b = 0; b < count; ++b) {
    Drawn one = draw(task, letters, rng);
    while (!has_label(one)) one = draw(task, letters, rng);
    examples.keys.resize(one.keys.size());
    for (Index t = 0; t < letters; ++t) {
      const Index row = b * letters + t;
      const Token token(examples.x, row, letters);
      const Token source(encodes ? examples.memory : examples.x, row, letters);
      token.set(position, t);
      source.set(position, t);
      if (at(one.letters, t) >= 0) source.set(letter, at(one.letters, t));
      if (at(one.open, t) >= 0) token.set(extra, at(one.open, t));
      if (at(one.close, t) >= 0) token.set(extra, letters / 2 + at(one.close, t));
      const Index label = at(one.labels, t);
      examples.labels[row] = label < 0 ? ignored_label : std::int32_t(label);
      for (std::size_t role = 0; role < one.keys.size(); ++role) {
        examples.keys[role].push_back(at(one.keys[role], t));
      }
    }
  }
  return examples;
}

PlantedModel::PlantedModel(PlantedTask task, Index width, Index heads, Rng& rng)
    : letters_(width / heads) {
  const bool encodes = task == PlantedTask::copying;
  for (Index i = 0; i < 2; ++i) {
    const AttentionConfig config{.width = width, .heads = heads, .bias = false};
    attentions_.push_back(std::make_unique<FusedHeads>(config, rng));
    attentions_.back()->set_location(
        encodes ? AttentionLocation{i == 0 ? AttentionKind::encoder_self : AttentionKind::cross, 0}
                : AttentionLocation{AttentionKind::decoder_self, i});
  }
  const auto matched = [&](std::pair<Part, Index> query, std::pair<Part, Index> key, Index count,
                           Part to) { return matching(letters_, width, query, key, count, to); };
  // Feature i of a key's position reads position i - 1 there: it matches the query after it.
  const auto before = [&](Part to) {
    return matched({position, 0}, {position, letters_ - 1}, letters_, to);
  };
  std::vector<HeadArrays> matrices;
  const auto plant = [&](const char* role, Index layer, HeadArrays head) {
    const AttentionLocation& location = at(attentions_, layer)->location();
    const auto [weakest, strongest] = strengths_of(task);
    planted_.push_back({role,
                        {location.kind, location.layer, rng.below(heads)},
                        double(rng.uniform(weakest, strongest))});
    matrices.push_back(std::move(head));
  };
  switch (task) {
    case PlantedTask::previous_token: plant("previous token", rng.below(2), before(answer)); break;
    case PlantedTask::induction:
      plant("previous token", 0, before(extra));
      plant("induction", 1, matched({letter, 0}, {extra, 0}, letters_, answer));
      break;
    case PlantedTask::bracket_partner:
      plant("bracket partner", rng.below(2),
            matched({extra, letters_ / 2}, {extra, 0}, letters_ / 2, answer));
      break;
    case PlantedTask::copying:
      plant("copying", 1, matched({position, 0}, {position, 0}, letters_, answer));
      break;
  }
  for (const std::unique_ptr<FusedHeads>& attention : attentions_) {
    for (Index head = 0; head < heads; ++head) {
      HeadShare share{{attention->location().kind, attention->location().layer, head}, {}, {}};
      const auto found =
          std::find_if(planted_.begin(), planted_.end(),
                       [&](const PlantedHead& one) { return one.head == share.head; });
      if (found != planted_.end()) {
        for (const auto& [part, matrix] : at(matrices, found - planted_.begin())) {
          share.value[part] = mixed(matrix, found->strength, rng);
        }
      } else {
        for (const auto& [part, like] : matrices.front()) share.value[part] = noise_like(like, rng);
      }
      set_values(*attention, share);
    }
  }
}

Tensor PlantedModel::operator()(const PlantedExamples& examples, HeadProbe* probe) const {
  Tensor x(examples.x);
  const auto add = [&](std::size_t layer, const Tensor& to, const Tensor& memory,
                       const AttentionMask& mask) {
    return to + attend(*attentions_[layer], to, memory, mask, probe, nullptr);
  };
  if (examples.memory.defined()) {
    const Tensor source(examples.memory);
    x = add(1, x, add(0, source, source, AttentionMask::none()), AttentionMask::none());
  } else {
    for (std::size_t layer = 0; layer < 2; ++layer) x = add(layer, x, x, AttentionMask::causal());
  }
  return slice(x, 2, answer * letters_, (answer + 1) * letters_) * logit_scale;
}

void PlantedModel::members(Members& visit) {
  visit("first", *attentions_[0]);
  visit("second", *attentions_[1]);
}

ProbedBatch PlantedLearner::batch_of(const PlantedExamples& examples) const {
  ProbedBatch batch = probed(
      examples.labels, [this, examples](HeadProbe& probe) { return (*model_)(examples, &probe); });
  batch.picked = [this, examples](std::span<const Index> rows) {
    const auto some = [&](const auto& of_all) {
      const Index one = of_all.size() / of_all.dim(0);
      std::remove_cvref_t<decltype(of_all)> picked(of_all.shape().with(0, std::ssize(rows)));
      for (Index i = 0; i < std::ssize(rows); ++i) {
        std::copy_n(of_all.data() + at(rows, i) * one, one, picked.data() + i * one);
      }
      return picked;
    };
    return batch_of({some(examples.x),
                     examples.memory.defined() ? some(examples.memory) : Array(),
                     some(examples.labels),
                     {}});
  };
  return batch;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
