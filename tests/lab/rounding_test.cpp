// rounding: the first steps trained again by hand, and the consistency of the record's parts.
#include <algorithm>
#include <cmath>

#include "headroom/data/batches.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom/train/objectives.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;

namespace {

/// "120 [90, 150]" -> 120
double front(const Record& cell) { return cell["value"]; }

/// The difference of the parameters of both layouts after the first step of one of the seeds.
double after_first_step(Index width, Index heads, std::uint64_t seed, std::uint64_t draw) {
  const auto task = std::get<Seq2SeqTask>(
      make_task("sort", {.seed = seed, .train = 2000, .validation = 1, .test = 1}));
  Rng rng(seed, "rounding training", draw);
  std::vector<std::unique_ptr<Seq2Seq>> models;
  for (const Layout layout : {Layout::separate, Layout::fused}) {
    ModelConfig config;
    config.block = {.width = width, .heads = heads, .hidden = 2 * width, .layout = layout};
    config.layers = 1;
    config.source_vocabulary = task.source.size();
    config.target_vocabulary = task.target.size();
    config.longest = std::max(task.longest_source(), task.longest_target()) + 8;
    models.push_back(std::make_unique<Seq2Seq>(config, rng));
  }
  transplant(*models[0], *models[1]);
  const Seq2SeqBatch batch = Seq2SeqLoader(task, 16, rng.word()).next();
  for (const auto& model : models) {
    Adam optimizer(*model, {.beta2 = 0.98});
    training_loss(*model, batch).backward();
    optimizer.step(0.8 / double(width));
  }
  return parameter_distance(*models[0], *models[1]).largest;
}

}  // namespace

TEST_CASE("rounding holds for any seed and size", "[long]") {
  lab_test::check_holds("rounding", {{12, 3, 2}, {4, 1, 1}}, 7);
}

TEST_CASE("rounding shows the first step's difference, and levels that fit its curves", "[long]") {
  const Index width = 8, heads = 2;
  const std::uint64_t seed = 3;
  const Record record = lab_test::run("rounding", width, heads, seed);
  const Record& curves = lab_test::block_with(record, "geometric mean")["series"];
  const Record& middle = curves[0]["points"];
  const Record& most = curves[1]["points"];
  const Record& least = curves[2]["points"];
  double logs = 0, high = 0, low = 1;
  for (std::uint64_t draw = 0; draw < 5; ++draw) {
    const double difference = after_first_step(width, heads, seed, draw);
    logs += std::log(difference) / 5;
    high = std::max(high, difference);
    low = std::min(low, difference);
  }
  CHECK(most[0][1] == high);
  CHECK(least[0][1] == low);
  CHECK(std::abs(middle[0][1].get<double>() / std::exp(logs) - 1) < 1e-9);
  // At a tenth of the learning rate rounding grows far less (here 1e-4 of the distance, or less).
  const Record& slow = curves[3]["points"];
  CHECK(curves[3]["name"] == "at a tenth of the learning rate");
  CHECK(slow.back()[1].get<double>() < middle.back()[1].get<double>() / 10);

  // All seeds have passed a level once the lowest curve has, none before the highest one.
  const auto first_above = [](const Record& points, double level) {
    for (const Record& point : points) {
      if (point[1].get<double>() > level) return point[0].get<double>();
    }
    return 1e9;
  };
  for (const Record& row : lab_test::block_with(record, "level")["rows"]) {
    const double level = std::stod(row[0].get<std::string>());
    INFO("level " << level);
    if (row[1].contains("text")) {  // "3 of 5 seeds within"
      CHECK(first_above(least, level) == 1e9);
      continue;
    }
    CHECK(front(row[1]) >= first_above(most, level));
    CHECK(front(row[1]) <= first_above(least, level));
  }

  // Each seed starts at the same point as the curves, and grows about as fast as the median.
  const double end = std::min(first_above(middle, 0.01), middle.back()[0].get<double>());
  double rise = 0, growth = 0;
  for (const Record& point : middle) {
    if (point[0] == end) rise = std::log10(point[1].get<double>() / middle[0][1].get<double>());
  }
  const Record& seeds = lab_test::block_with(record, "growth")["rows"];
  for (const Record& row : seeds) {
    CHECK(row[1].get<double>() <= high);
    CHECK(row[1].get<double>() >= low);
    growth += row[3].get<double>() / double(seeds.size());
  }
  const double middle_growth = 100 * rise / (end - 1);
  CHECK(growth > middle_growth / 3);
  CHECK(growth < middle_growth * 3);

  const double epsilon = is_double ? 0x1p-53 : 0x1p-24;
  for (const Record& row : lab_test::block_with(record, "small products, error")["rows"]) {
    for (std::size_t c = 1; c <= 3; ++c) {
      CHECK(front(row[c]) < 20 * epsilon);  // rounding, not a mistake; narrow layers may have none
    }
  }
}
