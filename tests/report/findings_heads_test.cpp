// The report's findings about heads, and about models before and after removing heads.
#include <array>
#include <map>
#include <string>

#include "headroom/base/error.hpp"
#include "headroom_lab/report/report.hpp"
#include "support/catch.hpp"
#include "support/small_run.hpp"

using namespace headroom;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

/// Heads of two layers, 8 of each kind, of which the given numbers are alive.
ReportRecord with_kept(Index encoder, Index decoder, Index cross) {
  ReportRecord run = small_run();
  run.telemetry.clear();
  run.heads.clear();
  const auto add = [&](AttentionKind kind, Index kept) {
    for (Index i = 0; i < 8; ++i) {
      run.heads.push_back({.id = {kind, i % 2, i / 2}});
      if (i >= kept) run.heads.back().removed_at = 100;
    }
  };
  add(AttentionKind::encoder_self, encoder);
  add(AttentionKind::decoder_self, decoder);
  add(AttentionKind::cross, cross);
  return run;
}

std::string heads_title(const ReportRecord& run) { return findings(run).heads->title; }
std::string maps_title(const ReportRecord& run) { return findings(run).maps->title; }
std::string importance_title(const ReportRecord& run) { return findings(run).importance->title; }

}  // namespace

TEST_CASE("kinds of attention differ only where a random choice of heads hardly would") {
  CHECK(heads_title(with_kept(2, 2, 8)) ==
        "Cross-attention keeps 8 of 8 heads, encoder self-attention only 2 of 8");
  CHECK(heads_title(with_kept(8, 4, 0)) ==
        "Encoder self-attention keeps 8 of 8 heads, cross-attention none of 8");
  // 2 of 8 apart, as most random choices are.
  CHECK(heads_title(with_kept(3, 4, 5)) ==
        "No clear pattern: 12 heads were removed, from no kind or layer clearly more");
  // With 7 of 12 and 5 of 12 in the layers.
  CHECK_THAT(findings(with_kept(3, 4, 5)).heads->caption,
             Contains("at least this unequal the kinds of attention in 87.3 % of cases, the layers "
                      "in 68.4 % of cases; below 5 % after Holm's correction for two tests"));
  // One of 24: the kinds are always 1 of 8 apart.
  CHECK_THAT(findings(with_kept(8, 7, 8)).heads->caption,
             Contains("in 100.0 % of cases, the layers in 100.0 %"));
  CHECK(heads_title(with_kept(8, 8, 8)) == "All 24 heads are alive");
}

TEST_CASE("layers are tested like kinds, and both at once") {
  ReportRecord run = with_kept(3, 4, 5);
  // Heads kept in layers 0 and 1 of the encoder, the decoder and cross-attention.
  const auto keep = [&](std::map<AttentionKind, std::array<Index, 2>> kept) {
    for (HeadRecord& head : run.heads) {
      head.removed_at.reset();
      if (kept.at(head.id.kind).at(std::size_t(head.id.layer))-- <= 0) head.removed_at = 100;
    }
  };
  using enum AttentionKind;
  keep({{encoder_self, {4, 0}}, {decoder_self, {4, 0}}, {cross, {3, 1}}});
  CHECK(heads_title(run) == "Layer 0 keeps 11 of 12 heads, layer 1 only 1 of 12");
  keep({{encoder_self, {4, 3}}, {decoder_self, {4, 4}}, {cross, {0, 0}}});
  CHECK(heads_title(run) == "Decoder self-attention keeps 8 of 8 heads, cross-attention none of 8");
  // A random choice leaves the layers 9 and 3 heads, or less equal, in 3.9 % of cases: clear as the
  // second of two tests, not as the first.
  keep({{encoder_self, {4, 3}}, {decoder_self, {1, 0}}, {cross, {4, 0}}});
  CHECK(heads_title(run) ==
        "Encoder self-attention keeps 7 of 8 heads, decoder self-attention only 1 of 8; layer 0 "
        "keeps 9 of 12 heads, layer 1 only 3 of 12");
  keep({{encoder_self, {3, 1}}, {decoder_self, {3, 1}}, {cross, {3, 1}}});
  CHECK_THAT(heads_title(run), StartsWith("No clear pattern"));
  CHECK_THAT(findings(run).heads->caption, Contains("the layers in 3.9 % of cases"));
}

TEST_CASE("a model with one kind of attention is told by its layers") {
  ReportRecord run = small_run();
  for (HeadRecord& head : run.heads) head.id.kind = AttentionKind::encoder_self;
  CHECK(heads_title(run) == "No clear pattern: 6 heads were removed, from no layer clearly more");
  CHECK_THAT(findings(run).heads->caption, Contains(" Layer 0 lost 4, layer 1 lost 2."));
  for (HeadRecord& head : run.heads) head.id.layer = 0;
  CHECK(heads_title(run) == "6 of 12 heads were removed");
  // Many layers: 24 of 16 heads, of which the last two lost all.
  run.heads.clear();
  run.telemetry.clear();
  for (Index i = 0; i < 24 * 16; ++i) {
    run.heads.push_back({.id = {AttentionKind::encoder_self, i / 16, i % 16}});
    if (i >= 22 * 16) run.heads.back().removed_at = 100;
  }
  CHECK(heads_title(run) == "Layer 21 keeps 16 of 16 heads, layer 22 none of 16");
}

TEST_CASE("exact match after removal is compared with the models that trained as long") {
  ReportRecord run = small_run();
  const auto title = [&] { return findings(run).before_after->title; };
  const auto caption = [&] { return findings(run).before_after->caption; };
  // Records of earlier runs lack the steps of each row; the first removal bounds them.
  CHECK(title() ==
        "A step is 1.25 times faster, exact match 0.5 points lower after at least 95 more training "
        "steps");
  CHECK_THAT(caption(), EndsWith("The models of row \"after\" had at least 95 more training steps "
                                 "than those of row \"before\": the difference in exact match is "
                                 "not due to the removal alone."));

  ComparisonRow &before = run.before_after[0], &after = run.before_after[1];
  before.steps = 80;
  before.heads = 12;
  after.steps = 200;
  after.heads = 6;
  CHECK_THAT(title(), EndsWith("exact match 0.5 points lower after 120 more training steps"));
  CHECK_THAT(findings(run).summary, Contains("and 120 more training steps."));

  ComparisonRow as_long = before;
  as_long.label = "as long, no head removed";
  as_long.steps = 200;
  as_long.exact_match = 0.999;
  run.before_after.push_back(as_long);
  CHECK(title() ==
        "A step is 1.25 times faster, exact match 1.0 points lower than after training as long "
        "without removal");
  CHECK_THAT(caption(), EndsWith("Rows \"after\" and \"as long, no head removed\" had 120 more "
                                 "training steps than row \"before\"."));
  CHECK_THAT(findings(run).summary,
             Contains("Exact match after training as long without removal: 99.9 %, with: 98.9 %."));
  run.before_after[2].exact_match = 0.98;
  CHECK_THAT(title(), EndsWith("exact match 0.9 points higher than after training as long without "
                               "removal"));
  run.before_after[2].exact_match = 0.989;
  CHECK_THAT(title(), EndsWith("exact match the same as after training as long without removal"));
  // Only the same model is compared: 99.1 % of the separate one here.
  run.before_after[2].exact_match = {{{"separate", 0.995}}};
  CHECK_THAT(title(), EndsWith("exact match of the separate model 0.4 points lower than after "
                               "training as long without removal"));
  CHECK_THAT(findings(run).summary, Contains("Exact match of the separate model after training as "
                                             "long without removal: 99.5 %, with: 99.1 %."));
}

TEST_CASE("a step is faster, slower or neither") {
  ReportRecord run = small_run();
  const auto title = [&] { return findings(run).before_after->title; };
  run.before_after[1].step_ms = 37.5;
  CHECK_THAT(title(),
             StartsWith("No clear gain: a step takes as long as before, exact match 0.5 "));
  run.before_after[1].step_ms = 76.0;
  CHECK_THAT(title(), StartsWith("A step is 2.00 times slower"));
  run.before_after[1].step_ms = {};
  CHECK_THAT(title(), StartsWith("Before and after, exact match 0.5 points lower"));
  run.before_after[1].exact_match = run.before_after[0].exact_match;
  CHECK_THAT(title(), StartsWith("Before and after, exact match unchanged"));
}

TEST_CASE("the summary says when heads were removed, and whose exact match it is") {
  ReportRecord run = small_run();
  const auto summary = [&] { return findings(run).summary; };
  for (HeadRecord& head : run.heads) {
    if (head.removed_at) head.removed_at = 150;
  }
  CHECK_THAT(summary(), Contains("(the last one 50 steps before the end)"));
  run.before_after[0].exact_match = 1.0;
  run.before_after[1].exact_match = {{{"separate", 0.96}, {"fused", 0.96}}};
  CHECK_THAT(summary(), Contains("Both predicted 100.0 % of unseen examples exactly, and 96.0 %"));
  run.heads[0].removed_at = 1000;  // after the run
  CHECK_THAT(summary(), Contains("after removing 6 of 12 heads and at least 50 more training"));
  for (HeadRecord& head : run.heads) head.removed_at.reset();
  CHECK_THAT(summary(), !Contains("unseen examples"));
}

TEST_CASE("telemetry follows the mean entropy of the heads that are alive at the end") {
  ReportRecord run = small_run();
  const auto title = [&] { return findings(run).telemetry->title; };
  for (double& entropy : run.telemetry.back().entropy) entropy = 0.86;
  CHECK(title() == "No clear pattern: the heads' mean entropy stays near 0.86 of the maximum");
  for (double& entropy : run.telemetry.back().entropy) entropy = 0.96;
  CHECK(title() == "Heads spread: their mean entropy rises from 0.90 to 0.96 of the maximum");
  for (double& entropy : run.telemetry.front().entropy) entropy = std::nan("");
  CHECK(title() == "Telemetry of every head");
}

TEST_CASE("a head points only by rows with several keys") {
  ReportRecord run = small_run();
  auto& maps = run.examples[0].maps;
  for (auto& row : maps[1].rows) row = {0.4, 0.3, 0.3};
  CHECK(maps_title(run) == "No clear pattern: no head points at a single token");
  // A causal row of one or two keys has a large weight for any head.
  run.examples = {{.target = {"a", "b"},
                   .maps = {{{AttentionKind::decoder_self, 0, 0}, {{1, 0}, {0.3, 0.7}}}}}};
  CHECK(maps_title(run) == "Attention maps");
  run.examples = {
      {.target = {"a", "b", "c"},
       .maps = {{{AttentionKind::decoder_self, 0, 0}, {{1, 0, 0}, {0, 1, 0}, {0.4, 0.3, 0.3}}}}}};
  CHECK(maps_title(run) == "No clear pattern: no head points at a single token");
  run.examples[0].maps[0].rows[2] = {0.1, 0.8, 0.1};
  CHECK(maps_title(run) == "Head decoder 0.0 points: its largest weight is 0.80 on average");
}

TEST_CASE("a middling correlation is called rough, and the caption says what would be clear") {
  ReportRecord run = small_run();
  REQUIRE(run.heads.size() == 12);
  CHECK(importance_title(run) == "Both layouts rank the heads alike (rank correlation 1.00)");
  // Importance rises with the head's index; `other` falls over the first `turned` heads, then
  // rises.
  const auto titled = [&](bool cost, int turned) {
    for (int i = 0; i < 12; ++i) {
      HeadRecord& head = run.heads[static_cast<std::size_t>(i)];
      const double value = i < turned ? turned - 1 - i : i;
      head.cost.reset();
      if (cost) head.cost = value;
      head.importance = {{{"separate", i}, {"fused", cost ? i : value}}};
    }
    return importance_title(run);
  };
  // 1 - 6 (sum of squared differences) / (12 * 143); by chance 2 / sqrt(12) = 0.58 is reached.
  CHECK(titled(true, 1) == "Importance predicts the cost of removal (rank correlation 1.00)");
  CHECK_THAT(
      findings(run).importance->caption,
      Contains("The cost of removing a head is the rise of the loss without this head alone. "
               "The layouts rank their heads with a correlation of 1.00."));
  CHECK(titled(true, 6) == "Importance predicts the cost of removal (rank correlation 0.76)");
  CHECK(titled(true, 7) ==
        "Importance predicts the cost of removal only roughly (rank correlation 0.61)");
  CHECK_THAT(findings(run).importance->caption,
             EndsWith("A rank correlation of 0.7 or more would be clear."));
  CHECK(titled(true, 8) ==
        "No clear relation between importance and the cost of removal (rank correlation 0.41)");
  CHECK(titled(false, 7) ==
        "The layouts rank the heads only roughly alike (rank correlation 0.61)");
  CHECK(titled(false, 8) ==
        "No clear relation between the layouts' rankings of the heads (rank correlation 0.41)");
  CHECK(titled(false, 12) ==
        "The layouts rank the heads in opposite orders (rank correlation -1.00)");
  CHECK_THAT(findings(run).importance->caption, !Contains("would be clear"));
  CHECK(titled(true, 12) ==
        "The less important a head, the higher the cost of its removal (rank correlation -1.00)");
}

TEST_CASE("few heads do not make a clear correlation, and without a second ranking none is said") {
  ReportRecord run = small_run();
  run.telemetry.clear();
  run.heads.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    run.heads[i].importance = double(i);
    run.heads[i].cost = double(i);
  }
  // The cost rises, then falls with the importance; neither title says more than its number.
  CHECK(importance_title(run) ==
        "Too few heads to compare importance with the cost of removal (rank correlation 1.00)");
  for (HeadRecord& head : run.heads) head.cost = -*head.cost;
  CHECK(importance_title(run) ==
        "Too few heads to compare importance with the cost of removal (rank correlation -1.00)");
  CHECK_THAT(findings(run).importance->caption,
             EndsWith("3 heads are too few for a clear rank correlation."));
  for (HeadRecord& head : run.heads) head.cost.reset();
  for (std::size_t i = 0; i < 3; ++i) {
    run.heads[i].importance = {{{"separate", double(i)}, {"fused", double(i)}}};
  }
  CHECK(importance_title(run) ==
        "Too few heads to compare the layouts' rankings (rank correlation 1.00)");
  for (std::size_t i = 0; i < 3; ++i) run.heads[i].importance = double(i);
  CHECK(importance_title(run) == "Head encoder 1.0 is the most important: 2, the median is 1");
  run.heads.resize(2);
  CHECK(importance_title(run) == "Head encoder 0.1 is the most important: 1, the median is 0.5");
}
