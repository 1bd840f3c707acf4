// Telemetry against plain loops, in every layout, and what it must leave alone.
#include "headroom/train/telemetry.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/op_scope.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/optim/lamb.hpp"
#include "headroom/optim/muon.hpp"
#include "headroom/optim/sgd.hpp"
#include "support/bag.hpp"
#include "support/close.hpp"
#include "support/temporary_folder.hpp"
#include "train/small_run.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

constexpr std::array<Layout, 3> layouts = {Layout::separate, Layout::fused, Layout::shared};
constexpr Index heads = 4, head_dim = 4;  // of small_config()
const double close = test::tolerance(1e-11, 2e-4);

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

/// The numbers of W_Q, W_K, W_V or W_O (role 0 to 3) that belong to the head at `place` among the
/// live ones, each layout's storage written out.
std::vector<double> block_of(const Arrays& arrays, Layout layout, const NamedAttention& found,
                             Index place, std::size_t role) {
  const Index live = static_cast<Index>(found.attention->alive().size());
  const Index original = found.attention->alive()[static_cast<std::size_t>(place)];
  const std::array<std::string, 3> apart = {"query.", "key.", "value."};
  const std::array<std::string, 3> shared = {"queries.", "keys.", "values."};
  std::string name = found.name + ".";
  Index row = 0, rows = head_dim, column = 0, columns = heads * head_dim;
  if (role == 3) {
    name += layout == Layout::separate ? "out.weight"
            : layout == Layout::fused  ? "out_proj.weight"
                                       : "fc_out.weight";
    rows = heads * head_dim;
    column = place * head_dim;
    columns = head_dim;
  } else if (layout == Layout::separate) {
    name += apart[role] + std::to_string(original) + ".weight";
  } else if (layout == Layout::fused) {
    name += "in_proj_weight";
    row = (static_cast<Index>(role) * live + place) * head_dim;
  } else {
    name += shared[role] + "weight";
    columns = head_dim;
  }
  const Array& array = arrays.at(name);
  std::vector<double> numbers;
  for (Index i = row; i < row + rows; ++i) {
    for (Index j = column; j < column + columns; ++j) {
      numbers.push_back(static_cast<double>(array[i * array.dim(1) + j]));
    }
  }
  return numbers;
}

double norm(const std::vector<double>& numbers) {
  long double sum = 0;
  for (const double x : numbers) sum += static_cast<long double>(x) * x;
  return static_cast<double>(std::sqrt(sum));
}

std::vector<double> difference(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

/// How many keys query i of example b may look at; 0 for padding.
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
  long double entropies = 0, maxima = 0;
  Index with_choice = 0, with_key = 0;
  for (Index b = 0; b < maps.dim(0); ++b) {
    for (Index i = 0; i < maps.dim(2); ++i) {
      const Index allowed = keys_allowed(batch, kind, b, i);
      long double entropy = 0, largest = 0;
      for (Index j = 0; j < maps.dim(3); ++j) {
        const long double p = maps[((b * maps.dim(1) + place) * maps.dim(2) + i) * maps.dim(3) + j];
        if (p > 0) entropy -= p * std::log(p);
        largest = std::max(largest, p);
      }
      if (allowed >= 1) maxima += largest;
      if (allowed >= 1) ++with_key;
      if (allowed >= 2) entropies += entropy / std::log(static_cast<long double>(allowed));
      if (allowed >= 2) ++with_choice;
    }
  }
  return {static_cast<double>(entropies / with_choice), static_cast<double>(maxima / with_key)};
}

bool near(double got, double wanted, double scale = 0) {
  return std::abs(got - wanted) <= close * std::max(std::abs(wanted), scale);
}

/// One step of `run` by hand, measured and compared with plain loops.
void check_step(SmallRun& run, Layout layout, Optimizer& optimizer, HeadTelemetry& telemetry,
                Index step) {
  const Seq2SeqBatch batch = run.loader.next();
  const auto random_step = static_cast<std::uint64_t>(step);
  HeadProbe maps;
  maps.maps = true;
  {
    const RandomStep random(3, random_step);
    const NoGrad quiet;
    training_loss(run.model, batch, 0, &maps);
  }
  {
    const RandomStep random(3, random_step);
    optimizer.zero_grad();
    training_loss(run.model, batch, 0, telemetry.begin(step)).backward();
  }
  telemetry.after_backward();
  const Arrays before = values_of(run.model), gradients = gradients_of(run.model);
  clip_grad_norm(run.model, 1e-3);  // far below: what is reported is from before
  optimizer.step(1e-2);
  const Record line = telemetry.after_update();
  const Arrays after = values_of(run.model);

  const std::vector<HeadReading>& readings = telemetry.readings();
  std::size_t next = 0;
  for (const NamedAttention& found : attentions(run.model)) {
    const auto alive = found.attention->alive();
    for (Index place = 0; place < static_cast<Index>(alive.size()); ++place, ++next) {
      const HeadReading& reading = readings.at(next);
      const HeadId id{found.attention->kind, found.attention->layer,
                      alive[static_cast<std::size_t>(place)]};
      INFO(name_of(layout) << " " << id.text());
      CHECK(reading.head == id);
      CHECK(line["heads"][next] == id.text());
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
          sharpness_of(maps.seen.at(found.place()).maps.value(), place, batch, id.kind);
      CHECK(near(reading.entropy, wanted.entropy));
      CHECK(near(reading.confidence, wanted.confidence));
      CHECK(reading.entropy < 1);
      CHECK(reading.confidence < 1);
      CHECK(std::isfinite(reading.gate_gradient));
    }
  }
  CHECK(next == readings.size());
}

bool has_padding(const Seq2SeqBatch& batch) {
  const auto lengths = batch.source_lengths.span();
  return std::set<std::int32_t>(lengths.begin(), lengths.end()).size() > 1;
}

std::vector<std::unique_ptr<Optimizer>> optimizers_of(Module& model) {
  std::vector<std::unique_ptr<Optimizer>> all;
  all.push_back(std::make_unique<AdamW>(model, AdamOptions{.weight_decay = 0.1}));
  all.push_back(std::make_unique<Sgd>(model, SgdOptions{.momentum = 0.9}));
  all.push_back(std::make_unique<Lamb>(model));
  all.push_back(std::make_unique<Muon>(model));
  return all;
}

std::string checkpoint_bytes(const SmallRun& run) {
  const TemporaryFolder folder;
  run.checkpoint.save(folder / "checkpoint");
  return read_file(folder / "checkpoint");
}

}  // namespace

TEST_CASE("readings are what plain loops find, in every layout, for every optimizer, pruned too") {
  for (const Layout layout : layouts) {
    SmallRun run(layout);
    CHECK(has_padding(SmallRun(layout).loader.next()));
    HeadTelemetry telemetry(run.model, 1);
    Index step = 0;
    for (const auto& optimizer : optimizers_of(run.model)) {
      check_step(run, layout, *optimizer, telemetry, ++step);
    }
    CHECK(telemetry.readings().size() == 12);
    // Head 0 of one attention and all heads of another go; the others keep their numbers.
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

TEST_CASE("the gate gradient is that of gates in the forward pass, in every layout") {
  for (const Layout layout : layouts) {
    INFO(name_of(layout));
    SmallRun run(layout);
    prune(run.model, std::vector<HeadId>{{AttentionKind::encoder_self, 0, 1}});
    const Seq2SeqBatch batch = run.loader.next();
    HeadTelemetry telemetry(run.model, 1);
    HeadProbe gated;
    for (const NamedAttention& found : attentions(run.model)) {
      gated.gates[found.place()] = parameter(ones({heads}));
    }
    {
      const RandomStep random(3, 1);  // dropout is on
      training_loss(run.model, batch, Real(0.1), &gated).backward();
    }
    zero_grad(run.model);
    {
      const RandomStep random(3, 1);
      training_loss(run.model, batch, Real(0.1), telemetry.begin(1)).backward();
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
      CHECK(near(reading.gate_gradient, static_cast<double>(gates.grad()[reading.head.head]),
                 largest));
    }
  }
}

TEST_CASE("padding is left out for a classifier, nothing for a language model") {
  const auto entropy_of = [](Module& model, const std::function<Tensor(HeadProbe*)>& loss) {
    HeadTelemetry telemetry(model, 1);
    loss(telemetry.begin(1)).backward();
    telemetry.after_backward();
    return telemetry.readings().at(0).entropy;
  };
  ModelConfig config;
  config.kind = ModelKind::classifier;
  config.block.width = 8;
  config.block.heads = 2;
  config.layers = 1;
  config.source_symbols = 9;
  config.target_symbols = 2;
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
  // The only query has no choice: there is no entropy to speak of.
  CHECK(std::isnan(
      entropy_of(writer, [&](HeadProbe* probe) { return training_loss(writer, one, 0, probe); })));
}

TEST_CASE("telemetry changes no bit of the training") {
  for (const Layout layout : layouts) {
    INFO(name_of(layout));
    SmallRun plain(layout), watched(layout, 1), sometimes(layout, 7);
    Index lines = 0;
    for (Index i = 0; i < 20; ++i) {
      const StepReport without = plain.step(), with = watched.step(), seldom = sometimes.step();
      CHECK(without.loss == with.loss);
      CHECK(without.gradient_norm == with.gradient_norm);
      CHECK(without.telemetry.is_null());
      CHECK(with.telemetry["step"] == with.step);
      CHECK(seldom.telemetry.is_null() == (seldom.step % 7 != 0));
      if (!seldom.telemetry.is_null()) CHECK(seldom.telemetry == with.telemetry);
      lines += seldom.telemetry.is_null() ? 0 : 1;
      for (SmallRun* run : {&plain, &watched, &sometimes}) run->prune_when_due(with);
    }
    CHECK(lines == 2);
    CHECK(checkpoint_bytes(plain) == checkpoint_bytes(watched));
    CHECK(checkpoint_bytes(plain) == checkpoint_bytes(sometimes));
  }
}

TEST_CASE("any number of threads writes the same line, with a finite number for every head") {
  const int before = num_threads();
  std::vector<std::string> lines;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    SmallRun run(Layout::fused, 1);
    Record line;
    for (Index i = 0; i < 15; ++i) {
      const StepReport report = run.step();
      line = report.telemetry;
      run.prune_when_due(report);
    }
    lines.push_back(line.dump());
    CHECK(line["record"] == "heads");
    CHECK(line["heads"].size() == 9);
    for (const char* key : {"gate_gradient", "entropy", "confidence"}) {
      CHECK(line[key].size() == 9);
      for (const Record& number : line[key]) CHECK(number.is_number());
    }
    for (const char* key : {"gradient_norm", "update_ratio"}) {
      for (const char* block : {"query", "key", "value", "output"}) {
        CHECK(line[key][block].size() == 9);
        for (const Record& number : line[key][block]) CHECK(number.get<double>() > 0);
      }
    }
  }
  set_num_threads(before);
  CHECK(lines[0] == lines[1]);
  CHECK(lines[0] == lines[2]);
}

TEST_CASE("a line holds six digits, and null where there is no number") {
  HeadReading reading{.head = {AttentionKind::cross, 1, 2}};
  reading.gate_gradient = -1.23456789e-7;
  reading.entropy = std::nan("");
  reading.update_ratio[3] = std::numeric_limits<double>::infinity();
  const Record line = HeadTelemetry::line(30, {reading});
  CHECK(line["heads"] == Record{"cross 1.2"});
  CHECK(line["gate_gradient"][0] == -1.23457e-7);
  CHECK(line["entropy"][0].is_null());
  CHECK(line["update_ratio"]["output"][0].is_null());
}

TEST_CASE("what a measured step adds is a small share of the step's work") {
  // Two layers of the sizes that `bench step --case small` has six of.
  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.block.width = 256;
  config.block.heads = 8;
  config.layers = 2;
  config.source_symbols = config.target_symbols = 256;
  config.longest = 128;
  Rng rng(1, "init");
  LanguageModel model(config, rng);
  AdamW optimizer(model);
  HeadTelemetry telemetry(model, 2);
  Ids ids(Shape{8, 128});
  for (std::int32_t& id : ids.span()) id = static_cast<std::int32_t>(rng.below(256));

  const auto profile_of_step = [&](Index step) {
    set_profiling(true);
    optimizer.zero_grad();
    cross_entropy(model(ids, telemetry.begin(step)), ids).backward();
    telemetry.after_backward();
    optimizer.step(1e-3);
    telemetry.after_update();
    set_profiling(false);
    return profile();
  };
  const auto total = [](const std::vector<ProfileRow>& rows) {
    ProfileRow sum;
    for (const ProfileRow& row : rows) {
      sum.flops += row.flops;
      sum.bytes += row.bytes;
      sum.calls += row.calls;
    }
    return sum;
  };
  const auto is_telemetry = [](const ProfileRow& row) {
    return row.name == "telemetry" || row.name == "attention rows";
  };
  const std::vector<ProfileRow> plain_rows = profile_of_step(1), rows = profile_of_step(2);
  CHECK(std::none_of(plain_rows.begin(), plain_rows.end(), is_telemetry));
  const ProfileRow plain = total(plain_rows), measured = total(rows);
  // Everything that was added has been booked under its own name.
  std::vector<ProfileRow> own;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(own), is_telemetry);
  const ProfileRow added = total(own);
  CHECK(added.calls == measured.calls - plain.calls);
  CHECK(added.calls == 2 + 2);  // twice, and the rows of two layers
  CHECK(std::abs(added.flops - (measured.flops - plain.flops)) < 1);
  CHECK(std::abs(added.bytes - (measured.bytes - plain.bytes)) < 1);

  // 2 flops for every score, 9 for every weight; each of q and k and five times the weights moved.
  const double pairs = 2 * 8 * 8 * (128 * 129 / 2), weights = 2 * 4 * 256 * 256;
  const double moved = 2 * 2 * 8 * 128 * 256 + 5 * weights;
  CHECK(added.flops == pairs * 2 * 32 + 9 * weights);
  CHECK(added.bytes > moved * sizeof(Real));
  CHECK(added.bytes < 1.02 * moved * sizeof(Real));
  // So a tenth of it, in every tenth step, is far less than 3 %.
  CHECK(added.flops < 0.02 * plain.flops);
  CHECK(added.bytes < 0.05 * plain.bytes);
}

TEST_CASE("telemetry says what it needs") {
  SmallRun run;
  CHECK_THROWS_WITH(HeadTelemetry(run.model, -1), Contains("-1"));
  CHECK_THROWS_AS(HeadTelemetry(run.model, -1), UsageError);
  Trainer trainer(run.optimizer, RateOptions{}, {.telemetry = 2});
  const Seq2SeqBatch batch = run.loader.next();
  const auto unprobed = [&] { return training_loss(run.model, batch); };
  CHECK_NOTHROW(trainer.step(unprobed));
  CHECK_THROWS_WITH(trainer.step(unprobed), Contains("did not give the probe"));

  Bag bag;  // no attention: nothing to tell
  Tensor& p = bag.add("p", Array({2}, {1, 2}));
  Sgd optimizer(bag);
  Trainer without(optimizer, RateOptions{}, {.telemetry = 1});
  CHECK(without.step([&] { return sum(p * p); }).telemetry.is_null());
}
