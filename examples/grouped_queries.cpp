// Grouped-query attention (Ainslie et al. 2023, "GQA") as a user-defined layout: two query heads
// share a key and a value. The model is trained, pruned, trained on, saved and loaded.
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "headroom/nn/linear.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/ops/shaping.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/surgery/check_layout.hpp"
#include "headroom/train/checkpoint.hpp"

using namespace headroom;

/// Query head h reads the key and value of group h / 2.
class GroupedQueries : public Attention {
 public:
  static constexpr Index group_size = 2;
  GroupedQueries(const AttentionConfig& wanted, Rng& rng)
      : Attention(wanted),
        q_proj(config().width, config().heads * head_dim(), rng, config().bias),
        k_proj(config().key_width, group_count() * head_dim(), rng, config().bias),
        v_proj(config().value_width, group_count() * head_dim(), rng, config().bias),
        o_proj(config().heads * head_dim(), config().width, rng, config().bias) {}
  static Layout registered() {
    static const Layout layout =
        add_layout("grouped", "grouped queries", [](const AttentionConfig& config, Rng& rng) {
          return std::make_unique<GroupedQueries>(config, rng);
        });
    return layout;
  }
  Layout layout() const override { return registered(); }
  void members(Members& visit) override {
    visit("q_proj", q_proj);
    visit("k_proj", k_proj);
    visit("v_proj", v_proj);
    visit("o_proj", o_proj);
  }
  std::vector<HeadSlice> head_slices() const override {
    std::vector<HeadSlice> slices;
    const auto add = [&](HeadRole role, HeadRole bias, auto owner, std::string name, Index i) {
      const Index begin = i * head_dim(), end = begin + head_dim();
      slices.push_back({role, owner, name + ".weight", 0, begin, end});
      if (config().bias) slices.push_back({bias, owner, name + ".bias", 0, begin, end});
    };
    const std::vector<std::vector<Index>> all = groups();
    for (Index g = 0; g < std::ssize(all); ++g) {
      add(HeadRole::key, HeadRole::key_bias, all[std::size_t(g)], "k_proj", g);
      add(HeadRole::value, HeadRole::value_bias, all[std::size_t(g)], "v_proj", g);
    }
    for (Index i = 0; i < live(); ++i) {
      const Index head = alive()[std::size_t(i)], d = head_dim();
      add(HeadRole::query, HeadRole::query_bias, head, "q_proj", i);
      slices.push_back({HeadRole::output, head, "o_proj.weight", 1, i * d, (i + 1) * d});
    }
    if (config().bias) {
      slices.push_back(
          {HeadRole::output_bias, HeadSlice::of_none, "o_proj.bias", 0, 0, config().width});
    }
    return slices;
  }
  Linear q_proj, k_proj, v_proj, o_proj;

 protected:
  Projections project(const Tensor& query, const Tensor& key, const Tensor& value,
                      Index) const override {
    Projections heads{{q_proj(query), 0}, {}, {}};
    if (!key.defined()) return heads;
    const std::vector<std::vector<Index>> all = groups();
    Ids columns(Shape{live() * head_dim()});  // each live head's columns among those of the groups
    Index i = 0;
    for (Index g = 0; g < std::ssize(all); ++g) {
      for (Index e = 0; e < std::ssize(all[std::size_t(g)]) * head_dim(); ++e) {
        columns[i++] = static_cast<std::int32_t>(g * head_dim() + e % head_dim());
      }
    }
    heads.key.source = gather(k_proj(key), 2, columns);
    heads.value.source = gather(v_proj(value), 2, columns);
    return heads;
  }
  Tensor combine(const Tensor& heads, const Tensor&) const override { return o_proj(heads); }

 private:
  Index group_count() const { return (config().heads + group_size - 1) / group_size; }
  /// The live heads of each group that has any.
  std::vector<std::vector<Index>> groups() const {
    std::vector<std::vector<Index>> all;
    for (const Index head : alive()) {
      if (all.empty() || all.back().front() / group_size != head / group_size) all.emplace_back();
      all.back().push_back(head);
    }
    return all;
  }
};

namespace {

constexpr Index batch = 16, length = 24, back = 3;

/// One step of a model that repeats the token three positions back; returns its loss.
double train(LanguageModel& model, Adam& optimizer, Rng& rng) {
  Ids tokens(Shape{batch, length}), labels(Shape{batch, length}, -100);
  for (Index e = 0; e < tokens.size(); ++e) {
    tokens[e] = static_cast<std::int32_t>(rng.below(8));
    if (e % length >= back) labels[e] = tokens[e - back];
  }
  const Tensor loss = cross_entropy(model(tokens), labels);
  optimizer.zero_grad();
  loss.backward();
  optimizer.step(3e-3);
  return double(loss.item());
}

}  // namespace

int main() {
  const Layout layout = GroupedQueries::registered();
  Rng rng(1, "init"), data(2, "train");
  check_layout(*make_attention(layout, {.width = 12, .heads = 6, .head_dim = 4}, rng));

  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.source_vocabulary = 8;
  config.positions = PositionKind::learned;
  config.block = {.width = 32, .heads = 4, .layout = layout};
  LanguageModel model(config, rng);
  Adam optimizer(model);
  double before = 0, after = 0;
  for (int step = 0; step < 300; ++step) before = train(model, optimizer, data);

  // Heads 0 and 1 of layer 0 take their key and value with them; head 2 of layer 1 does not.
  const std::vector<HeadId> gone{{AttentionKind::decoder_self, 0, 0},
                                 {AttentionKind::decoder_self, 0, 1},
                                 {AttentionKind::decoder_self, 1, 2}};
  optimizer.apply(prune(model, gone));
  for (const auto& [name, tensor] : parameters(model)) {
    if (name.ends_with("k_proj.weight")) {
      std::printf("%s %s\n", name.c_str(), tensor.shape().text().c_str());
    }
  }
  for (int step = 0; step < 100; ++step) after = train(model, optimizer, data);

  const auto path = std::filesystem::temp_directory_path() / "headroom_grouped_queries.safetensors";
  Checkpoint checkpoint;
  checkpoint.add("model", model);
  checkpoint.save(path);
  const SavedModel loaded = load_model(path);
  std::filesystem::remove(path);
  model.eval();
  const Ids ids(Shape{1, 5}, {1, 2, 3, 4, 5});
  const Array ours = model(ids).value(), theirs = loaded.language_model()(ids).value();
  double apart = 0;
  for (Index e = 0; e < ours.size(); ++e) {
    apart = std::max(apart, std::abs(double(ours[e] - theirs[e])));
  }
  std::printf("loss %.3f with all heads, %.3f without three; loaded, the logits differ by %g\n",
              before, after, apart);
  return before < 0.1 && after < 0.1 && apart == 0 ? 0 : 1;
}
