// Telemetry against plain loops, in every layout.
#include "headroom_runs/runs/telemetry.hpp"

#include <cmath>
#include <set>

#include "headroom/autograd/tape.hpp"
#include "headroom/nn/head_share.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/optim/lamb.hpp"
#include "headroom/optim/muon.hpp"
#include "headroom/optim/sgd.hpp"
#include "runs/watched_run.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"
#include "support/own_layouts.hpp"

using namespace headroom;

namespace {

constexpr auto layouts = all_of<Layout>();
constexpr Index heads = 4, head_dim = 4;  // of small_config()
const auto close = double(test::tolerance(1e-11, 2e-4));

using Arrays = std::map<std::string, Array>;

Arrays values_of(Module& model) {
  Arrays arrays;
  for (const auto& [name, tensor] : parameters(model)) arrays[name] = tensor.value().clone();
  return arrays;
}

Arrays gradients_of(Module& model) {
  Arrays arrays;
  for (const auto& [name, tensor] : parameters(model)) arrays[name] = tensor.grad().clone();
  return arrays;
}

/// The elements of W_Q, W_K, W_V or W_O (role 0 to 3) that belong to the head at index `place`
/// among the live ones, with each layout's storage written out.
std::vector<double> block_of(const Arrays& arrays, Layout layout, const NamedAttention& found,
                             Index place, std::size_t role) {
  const Index live = Index(found.attention->alive().size());
  const Index original = found.attention->alive()[static_cast<std::size_t>(place)];
  const std::array<std::string, 3> apart = {"query.", "key.", "value."};
  const std::array<std::string, 3> shared = {"queries.", "keys.", "values."};
  std::string name = found.name + ".";
  Index row = 0, rows = head_dim, column = 0, columns = heads * head_dim;
  if (role == 3) {
    name += layout == Layout::fused    ? "out_proj.weight"
            : layout == Layout::shared ? "fc_out.weight"
                                       : "out.weight";
    rows = heads * head_dim;
    column = place * head_dim;
    columns = head_dim;
  } else if (layout == Layout::separate) {
    name += apart[role] + std::to_string(original) + ".weight";
  } else if (layout == test::grouped_layout()) {
    name += apart[role] + "weight";
    std::set<Index> before;  // groups of two heads
    for (Index i = 0; i < place; ++i) {
      before.insert(found.attention->alive()[static_cast<std::size_t>(i)] / 2);
    }
    before.erase(original / 2);
    row = (role == 0 ? place : std::ssize(before)) * head_dim;
  } else if (layout == Layout::fused) {
    name += "in_proj_weight";
    row = (Index(role) * live + place) * head_dim;
  } else {
    name += shared[role] + "weight";
    columns = head_dim;
  }
  const Array& array = arrays.at(name);
  std::vector<double> numbers;
  for (Index i = row; i < row + rows; ++i) {
    for (Index j = column; j < column + columns; ++j) {
      numbers.push_back(double(array[i * array.dim(1) + j]));
    }
  }
  return numbers;
}

double norm(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double x : numbers) sum += x * x;
  return std::sqrt(sum);
}

std::vector<double> difference(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

/// Number of keys that query i of example b may attend to; 0 for padding.
Index keys_allowed(const Seq2SeqBatch& batch, AttentionKind kind, Index b, Index i) {
  const Index source = batch.source_lengths[b], target = batch.target_lengths[b];
  switch (kind) {
    case AttentionKind::encoder_self: return i < source ? source : 0;
    case AttentionKind::decoder_self: return i < target ? i + 1 : 0;
    case AttentionKind::cross: return i < target ? source : 0;
  }
  return 0;
}

struct Sharpness {
  double entropy, confidence;
};

/// From the maps of a head, by the formulas.
Sharpness sharpness_of(const Array& maps, Index place, const Seq2SeqBatch& batch,
                       AttentionKind kind) {
  double entropies = 0, maxima = 0;
  Index with_choice = 0, with_key = 0;
  for (Index b = 0; b < maps.dim(0); ++b) {
    for (Index i = 0; i < maps.dim(2); ++i) {
      const Index allowed = keys_allowed(batch, kind, b, i);
      double entropy = 0, largest = 0;
      for (Index j = 0; j < maps.dim(3); ++j) {
        const auto p =
            double(maps[((b * maps.dim(1) + place) * maps.dim(2) + i) * maps.dim(3) + j]);
        if (p > 0) entropy -= p * std::log(p);
        largest = std::max(largest, p);
      }
      if (allowed >= 1) maxima += largest;
      if (allowed >= 1) ++with_key;
      if (allowed >= 2) entropies += entropy / std::log(double(allowed));
      if (allowed >= 2) ++with_choice;
    }
  }
  return {entropies / double(with_choice), maxima / double(with_key)};
}

bool near(double got, double wanted, double scale = 0) {
  return std::abs(got - wanted) <= close * std::max(std::abs(wanted), scale);
}

bool has_padding(const Seq2SeqBatch& batch) {
  const auto lengths = batch.source_lengths.span();
  return std::set<std::int32_t>(lengths.begin(), lengths.end()).size() > 1;
}

/// One step of `run` by hand, measured and compared with plain loops.
void check_step(SmallRun& run, Layout layout, Optimizer& optimizer, HeadTelemetry& telemetry,
                Index step) {
  const Index first = 8 * (step % 10);  // as the set has them: lengths differ
  const Seq2SeqBatch batch =
      make_batch(run.task.train, {first, first + 1, first + 2, first + 3, first + 4},
                 run.task.source, run.task.target);
  REQUIRE(has_padding(batch));
  const auto random_step = static_cast<std::uint64_t>(step);
  HeadProbe maps, probe;
  maps.maps = true;
  {
    const RandomStep random(3, random_step);
    const NoGrad quiet;
    training_loss(run.model, batch, 0, &maps);
  }
  {
    const RandomStep random(3, random_step);
    optimizer.zero_grad();
    telemetry.begin(step, probe);
    training_loss(run.model, batch, 0, &probe).backward();
  }
  telemetry.after_backward();
  const Arrays before = values_of(run.model), gradients = gradients_of(run.model);
  clip_grad_norm(run.model, 1e-3);  // far below the norm: reported values are from before clipping
  optimizer.step(1e-2);
  StepReport report;
  telemetry.after_update(report);
  const TelemetryLine line = telemetry_of(report).value_or(TelemetryLine{});  // none without heads
  const Arrays after = values_of(run.model);

  const std::vector<HeadReading>& readings = telemetry.readings();
  std::size_t next = 0;
  for (const NamedAttention& found : attentions(run.model)) {
    const auto alive = found.attention->alive();
    for (Index place = 0; place < Index(alive.size()); ++place, ++next) {
      const HeadReading& reading = readings.at(next);
      const HeadId id = found.id(alive[static_cast<std::size_t>(place)]);
      INFO(name_of(layout) << " " << id.text());
      CHECK(reading.head == id);
      CHECK(line.heads.at(next) == id);
      for (std::size_t role = 0; role < 4; ++role) {
        CAPTURE(role);
        const auto own = [&](const Arrays& arrays) {
          return block_of(arrays, layout, found, place, role);
        };
        const double moved = norm(difference(own(after), own(before))) / norm(own(before));
        CHECK(moved > 0);
        CHECK(reading.gradient_norm[role] > 0);
        CHECK(near(reading.gradient_norm[role], norm(own(gradients))));
        CHECK(near(reading.update_ratio[role], moved));
      }
      const Sharpness wanted =
          sharpness_of(maps.seen.at(found.location()).maps.value(), place, batch, id.kind);
      CHECK(near(reading.entropy, wanted.entropy));
      CHECK(near(reading.confidence, wanted.confidence));
      CHECK(reading.entropy < 1);
      CHECK(reading.confidence < 1);
      CHECK(std::isfinite(reading.gate_gradient));
    }
  }
  CHECK(next == readings.size());
  CHECK(report.lines.empty() == readings.empty());
}

std::vector<std::unique_ptr<Optimizer>> optimizers_of(Module& model) {
  std::vector<std::unique_ptr<Optimizer>> all;
  all.push_back(std::make_unique<AdamW>(model, AdamOptions{.weight_decay = 0.1}));
  all.push_back(std::make_unique<Sgd>(model, SgdOptions{.momentum = 0.9}));
  all.push_back(std::make_unique<Lamb>(model));
  all.push_back(std::make_unique<Muon>(model));
  return all;
}

}  // namespace

TEST_CASE("readings are what plain loops find, in every layout, for every optimizer, pruned too") {
  for (const Layout layout : layouts) {
    SmallRun run(layout);
    HeadTelemetry telemetry(run.model, 1);
    Index step = 0;
    for (const auto& optimizer : optimizers_of(run.model)) {
      check_step(run, layout, *optimizer, telemetry, ++step);
    }
    CHECK(telemetry.readings().size() == 12);
    // Removes head 0 of one attention and all heads of another; the others keep their numbers.
    const std::vector<HeadId> gone = {{AttentionKind::cross, 0, 0},
                                      {AttentionKind::decoder_self, 0, 0},
                                      {AttentionKind::decoder_self, 0, 1},
                                      {AttentionKind::decoder_self, 0, 2},
                                      {AttentionKind::decoder_self, 0, 3}};
    prune(run.model, gone);
    for (const auto& optimizer : optimizers_of(run.model)) {
      check_step(run, layout, *optimizer, telemetry, ++step);
    }
    CHECK(telemetry.readings().size() == 7);
    prune(run.model, live_heads(run.model));
    AdamW rest(run.model);
    check_step(run, layout, rest, telemetry, ++step);
    CHECK(telemetry.readings().empty());
  }
}

TEST_CASE("a key that a group of heads shares is read for each of them") {
  SmallRun run(test::grouped_layout());
  HeadTelemetry telemetry(run.model, 1);
  check_step(run, test::grouped_layout(), run.optimizer, telemetry, 1);
  const std::vector<HeadReading>& readings = telemetry.readings();
  CHECK(readings[0].gradient_norm[1] == readings[1].gradient_norm[1]);
  CHECK(readings[1].gradient_norm[1] != readings[2].gradient_norm[1]);
  run.optimizer.apply(prune(run.model, std::vector<HeadId>{{AttentionKind::cross, 0, 1},
                                                           {AttentionKind::encoder_self, 0, 0},
                                                           {AttentionKind::encoder_self, 0, 1}}));
  check_step(run, test::grouped_layout(), run.optimizer, telemetry, 2);
}

TEST_CASE("the gate gradient is that of gates in the forward pass, in every layout") {
  for (const Layout layout : layouts) {
    INFO(name_of(layout));
    SmallRun run(layout);
    prune(run.model, std::vector<HeadId>{{AttentionKind::encoder_self, 0, 1}});
    const Seq2SeqBatch batch = run.loader.next();
    HeadTelemetry telemetry(run.model, 1);
    HeadProbe gated, probe;
    for (const NamedAttention& found : attentions(run.model)) {
      gated.gates[found.location()] = parameter(ones({heads}));
    }
    {
      const RandomStep random(3, 1);  // dropout is on
      training_loss(run.model, batch, Real(0.1), &gated).backward();
    }
    zero_grad(run.model);
    {
      const RandomStep random(3, 1);
      telemetry.begin(1, probe);
      training_loss(run.model, batch, Real(0.1), &probe).backward();
    }
    telemetry.after_backward();
    double largest = 0;
    for (const HeadReading& reading : telemetry.readings()) {
      largest = std::max(largest, std::abs(reading.gate_gradient));
    }
    CHECK(largest > 1e-3);
    CHECK(telemetry.readings().size() == 11);
    for (const HeadReading& reading : telemetry.readings()) {
      INFO(reading.head.text());
      const Tensor& gates = gated.gates.at({reading.head.kind, reading.head.layer});
      CHECK(near(reading.gate_gradient, double(gates.grad()[reading.head.head]), largest));
    }
  }
}

TEST_CASE("padding is left out for a classifier, nothing for a language model") {
  const auto entropy_of = [](Module& model, const std::function<Tensor(HeadProbe*)>& loss) {
    HeadTelemetry telemetry(model, 1);
    HeadProbe probe;
    telemetry.begin(1, probe);
    loss(&probe).backward();
    telemetry.after_backward();
    return telemetry.readings().at(0).entropy;
  };
  ModelConfig config;
  config.kind = ModelKind::classifier;
  config.block.width = 8;
  config.block.heads = 2;
  config.layers = 1;
  config.source_vocabulary = 9;
  config.target_vocabulary = 2;
  config.longest = 8;
  Rng rng(1, "init");
  Classifier classifier(config, rng);
  ClassificationBatch batch;
  batch.tokens = Ids(Shape{2, 6}, {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0});
  batch.lengths = Ids(Shape{2}, {6, 2});
  batch.labels = Ids(Shape{2}, {0, 1});
  const auto loss = [&](HeadProbe* probe) { return training_loss(classifier, batch, 0, probe); };
  const double entropy = entropy_of(classifier, loss);
  for (Index i = 8; i < 12; ++i) batch.tokens[i] = 5;  // other padding
  CHECK(entropy_of(classifier, loss) == entropy);
  batch.lengths[1] = 3;
  CHECK(entropy_of(classifier, loss) != entropy);

  config.kind = ModelKind::language_model;
  LanguageModel writer(config, rng);
  const TextBatch one{Ids(Shape{1, 1}, {3}), Ids(Shape{1, 1}, {4})};
  // The only query has one key: its entropy is undefined.
  CHECK(std::isnan(
      entropy_of(writer, [&](HeadProbe* probe) { return training_loss(writer, one, 0, probe); })));
}

TEST_CASE("heads of an attention that another part prunes after the update have no update ratio") {
  for (const Layout layout : layouts) {
    SmallRun run(layout);
    HeadTelemetry telemetry(run.model, 1);
    HeadProbe probe;
    telemetry.begin(1, probe);
    const RandomStep step(3, 1);
    training_loss(run.model, run.loader.next(), 0, &probe).backward();
    telemetry.after_backward();
    run.optimizer.step(1e-3);
    const std::vector<HeadId> gone = {{AttentionKind::cross, 0, 0}};
    run.optimizer.apply(prune(run.model, gone));
    StepReport report;
    telemetry.after_update(report);
    for (const HeadReading& reading : telemetry.readings()) {
      INFO(name_of(layout) << ", " << reading.head.text());
      const double ratio = reading.update_ratio.back();  // of the head's columns of W_O
      const bool pruned = reading.head.kind == AttentionKind::cross;
      CHECK((pruned ? std::isnan(ratio) : ratio > 0));
    }
  }
}

TEST_CASE("heads that a swap moves within a parameter have no update ratio of it") {
  for (const Layout layout : layouts) {
    SmallRun run(layout);
    const HeadId out{AttentionKind::cross, 0, 3}, in{AttentionKind::cross, 0, 0};
    HeadShare waiting;
    for (const NamedAttention& found : attentions(run.model)) {
      if (found.id(in.head) == in) waiting = share_of(found, in.head);
    }
    run.optimizer.apply(prune(run.model, {&in, 1}));
    HeadTelemetry telemetry(run.model, 1);
    HeadProbe probe;
    telemetry.begin(1, probe);
    const RandomStep step(3, 1);
    training_loss(run.model, run.loader.next(), 0, &probe).backward();
    telemetry.after_backward();
    run.optimizer.step(1e-3);
    run.optimizer.apply(regrow(run.model, {&waiting, 1}));  // 0, 1, 2 in the place of 1, 2, 3
    run.optimizer.apply(prune(run.model, {&out, 1}));
    StepReport report;
    telemetry.after_update(report);
    for (const HeadReading& reading : telemetry.readings()) {
      INFO(name_of(layout) << ", " << reading.head.text());
      const bool swapped = reading.head.kind == AttentionKind::cross;
      CHECK(std::isnan(reading.update_ratio[3]) == swapped);  // of W_O
      const bool moved = swapped && layout == Layout::fused;
      CHECK(std::isnan(reading.update_ratio[0]) == moved);  // of W_Q
    }
  }
}

TEST_CASE("a line holds six digits, and null where there is no number") {
  HeadReading reading{.head = {AttentionKind::cross, 1, 2}};
  reading.gate_gradient = -1.23456789e-7;
  reading.entropy = std::nan("");
  reading.update_ratio[3] = std::numeric_limits<double>::infinity();
  const Record line = json_of(HeadTelemetry::line(30, {reading}));
  CHECK(line["heads"] == Record{"cross 1.2"});
  CHECK(line["gate_gradient"][0] == -1.23457e-7);
  CHECK(line["entropy"][0].is_null());
  CHECK(line["update_ratio"]["output"][0].is_null());
}
