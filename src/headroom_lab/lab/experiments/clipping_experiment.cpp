// clipping: clipping by the global norm is independent of the layout; clipping each tensor is not.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "headroom/base/extremes.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "lab/imitation.hpp"
#include "lab/numbers.hpp"
#include "lab/optimizer_rules.hpp"
#include "lab/scaled_head.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace clippings {

constexpr int draws = 5;

constexpr const char *global = "global", *per_tensor = "per tensor", *per_head = "per head";

/// A clipping method. Returns the norm before clipping, or the maximum of several norms.
struct Clip {
  const char* name;
  double (*apply)(Module&, double limit);
};

template <Granularity granularity>
double clip_blocks(Module& module, double limit) {
  return clip_block_norms(module, limit, granularity);
}

constexpr Clip clips[] = {{global, clip_grad_norm},
                          {per_tensor, clip_blocks<Granularity::tensor>},
                          {"per projection", clip_blocks<Granularity::projection>},
                          {per_head, clip_blocks<Granularity::head>}};
constexpr double no_limit = std::numeric_limits<double>::max();

constexpr double margin = 1.001;
/// Returns a limit that does not clip the current gradients, the 1e-6 of the rule included.
double limit_of_now(const Clip& clip, Module& module) {
  return margin * clip.apply(module, no_limit) + 1e-6;
}

/// The same heads in both layouts, each with its own gradients of the same task.
TwinLayouts twins(const LabOptions& options, std::uint64_t draw) {
  Rng rng(options.seed, "clipping", draw);
  TwinLayouts result =
      twin_layouts({.width = options.width, .heads = options.heads, .bias = false}, rng);
  const Imitation task(options.width, options.heads, seed_of_draw(options.seed, draw), false);
  for (const Layout layout : both_layouts) imitation_gradients(result.of(layout), task.batch(0));
  return result;
}

/// Effect of one clipping method on the same gradients in the two layouts. The limit is half of the
/// maximum norm of a head's block, so that every method clips.
struct Agreement {
  double norms[std::size(both_layouts)];  // before clipping
  double apart = 0;                       // of the gradients after clipping, relative
  double off_limit = 0;                   // |maximum norm after clipping / limit - 1|
};

Agreement agreement(const Clip& clip, const LabOptions& options, std::uint64_t draw) {
  const TwinLayouts pair = twins(options, draw);
  const double limit = clip_blocks<Granularity::head>(*pair.separate, no_limit) / 2;
  Agreement result;
  for (std::size_t i = 0; i < std::size(both_layouts); ++i) {
    result.norms[i] = clip.apply(pair.of(both_layouts[i]), limit);
  }
  result.apart = gradient_distance(*pair.separate, *pair.fused).largest;
  for (const Layout layout : both_layouts) {
    const double after = clip.apply(pair.of(layout), no_limit);
    result.off_limit = larger(result.off_limit, std::abs(after / limit - 1));
  }
  return result;
}

/// Share of the gradients left after clipping, when head 0's gradient is multiplied by
/// `gradient_factor` and the limit is the norm before that.
struct Kept {
  double others_inputs = 0, others_output = 0;  // mean shares of the others' Q, K, V and O blocks
  double least_inputs = 1, least_output = 1;    // minimum over these heads
  double scaled = 0;                            // share of head 0's gradient
  double cosine = 0;                            // between the whole gradient before and after
  double by_norms = 0;                          // expected under a global norm, from two norms
};

constexpr HeadRole all_roles[] = {HeadRole::query, HeadRole::key, HeadRole::value,
                                  HeadRole::output};

/// <a, b> of the gradients of some roles of some heads.
double inner(std::span<const HeadShare> a, std::span<const HeadShare> b,
             std::span<const HeadRole> roles = all_roles) {
  double sum = 0;
  for (const HeadRole role : roles) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum += headroom::inner(a[i].gradient.at(role), b[i].gradient.at(role));
    }
  }
  return sum;
}

double norm(const HeadShares& a) { return std::sqrt(inner(a, a)); }

Kept kept(const Clip& clip, Attention& layer) {
  const double limit = limit_of_now(clip, layer), unscaled_norm = norm(shares_of(layer));
  scale_gradient(layer, 0, Real(gradient_factor));
  const HeadShares before = shares_of(layer);
  clip.apply(layer, limit);
  const HeadShares after = shares_of(layer);
  // |after| / |before| of some parts of a head.
  const auto share_kept = [&](std::size_t head, std::span<const HeadRole> roles) {
    const std::span was(&before[head], 1), is(&after[head], 1);
    return std::sqrt(inner(is, is, roles) / inner(was, was, roles));
  };
  const std::span<const HeadRole> roles(all_roles), inputs = roles.first(3), output = roles.last(1);
  Kept result;
  for (std::size_t head = 1; head < before.size(); ++head) {
    const double of_inputs = share_kept(head, inputs), of_output = share_kept(head, output);
    result.others_inputs += of_inputs / double(before.size() - 1);
    result.others_output += of_output / double(before.size() - 1);
    result.least_inputs = smaller(result.least_inputs, of_inputs);
    result.least_output = smaller(result.least_output, of_output);
  }
  result.scaled = share_kept(0, roles);
  result.cosine = inner(before, after) / (norm(before) * norm(after));
  result.by_norms = (margin * unscaled_norm + 1e-6) / (norm(before) + 1e-6);
  return result;
}

/// A rule that clips at the largest norm of the unscaled copy in that step; nullptr: never.
TrainingRule clipped_rule(bool adam, const Clip* clip) {
  TrainingRule rule;
  rule.make = adam ? make_adam() : make_sgd();
  rule.rate = adam ? 0.01 : 1;
  if (clip == nullptr) return rule;
  rule.clip = [clip](Attention& unscaled, Attention& scaled) {
    clip->apply(scaled, limit_of_now(*clip, unscaled));
  };
  return rule;
}

/// A clipping method in one layout: a row of the tables.
struct Way {
  const Clip* clip;  // nullptr: none
  Layout layout;
  std::string name;
};

/// Only the norm per tensor depends on the layout; the others are shown in the fused layout.
std::vector<Way> ways() {
  std::vector<Way> result;
  for (const Clip& clip : clips) {
    if (clip.name == per_tensor) {
      result.push_back({&clip, Layout::separate, "per tensor, separate"});
      result.push_back({&clip, Layout::fused, "per tensor, fused"});
    } else {
      result.push_back({&clip, Layout::fused, clip.name});
    }
  }
  return result;
}

void layouts_table(const LabOptions& options, Notebook& book) {
  const Grid<Clip, Agreement> seen(
      {std::begin(clips), std::end(clips)}, draws,
      [&](const Clip& clip, auto draw) { return agreement(clip, options, draw); });
  const Survey<Agreement> others =
      seen.where([](const Clip& clip) { return clip.name != per_tensor; });
  const double differing = seen.of(per_tensor).smallest(&Agreement::apart),
               agreeing = others.largest(&Agreement::apart);
  const auto norm = [](std::size_t i) { return [i](const Agreement& a) { return a.norms[i]; }; };
  book.table(
      sentence("Clipped gradients of the two layouts: relative difference at least {:.2g} with a "
               "norm per tensor, at most {:.1g} with the other norms",
               differing, agreeing),
      sentence("The same heads with the same gradients in both layouts. Norm: the maximum over "
               "the blocks before clipping; the limit is half of the maximum norm of a head's "
               "block; mean of {} draws with 95 % intervals. Difference: max |difference| / max "
               "|value| of the clipped gradients, maximum over the draws.",
               draws),
      {"norm", "separate: norm", "fused: norm", "difference"},
      seen.rows(&Clip::name, norm(0), norm(1), largest_of(&Agreement::apart)));
  book.at_most("every clipping method: |maximum norm after clipping / limit - 1|",
               seen.all().largest(&Agreement::off_limit), 1e-3);
  book.at_most("global, per projection, per head: norms of the two layouts, relative difference",
               others.off([](const Agreement& a) { return a.norms[0] / a.norms[1]; }, 1),
               same_gradients);
  book.at_most("global, per projection, per head: clipped gradients of the two layouts", agreeing,
               same_gradients);
  book.more_than("per tensor: clipped gradients of the two layouts, smallest difference", differing,
                 1e-3);
}

/// Upper bound of the share that the other heads keep when head 0 is scaled:
/// sqrt(h) / gradient_factor for heads with gradients of equal size, times 3, because head 0's may
/// be a third of the others'.
double most_kept(Index heads) { return 3 * std::sqrt(double(heads)) / gradient_factor; }

/// Returns the largest share that the other heads keep under the global norm.
double kept_table(const LabOptions& options, Notebook& book) {
  const Grid<Way, Kept> seen(ways(), draws, [&](const Way& way, auto draw) {
    return kept(*way.clip, twins(options, draw).of(way.layout));
  });
  const Survey<Kept>&globally = seen.of(global), &by_head = seen.of(per_head);
  const double global_share = globally.largest(&Kept::others_inputs);
  book.table(
      sentence("A global norm scales the other heads' gradients to at most {:.2g}", global_share),
      sentence("Head 0's gradient is multiplied by {:.0f}; the limit is the maximum norm "
               "before that. Shares of the norms that remain after clipping; cosine between "
               "the gradients before and after; mean of {} draws with 95 % intervals.",
               gradient_factor, draws),
      {"norm", "other heads: Q, K, V", "other heads: W_O", "head 0", "cosine"},
      seen.rows(&Way::name, &Kept::others_inputs, &Kept::others_output, &Kept::scaled,
                &Kept::cosine));
  book.figure();
  book.at_most("global: other heads' share against 1.001 |g| / |g with head 0 scaled|, relative",
               globally.off([](const Kept& k) { return k.others_inputs / k.by_norms; }, 1),
               same_gradients);
  book.at_most("global: largest share that the other heads keep", global_share,
               most_kept(options.heads));
  book.at_most("global: |cosine between the gradients before and after - 1|",
               globally.off(&Kept::cosine, 1), same_values);
  book.equal("per head: smallest share that the other heads keep",
             smaller(by_head.smallest(&Kept::least_inputs), by_head.smallest(&Kept::least_output)),
             1);
  book.equal("per tensor, separate: smallest share that the other heads keep of Q, K, V",
             seen.of("per tensor, separate").smallest(&Kept::least_inputs), 1);
  book.at_most("per tensor, fused: largest share that the other heads keep of Q, K, V",
               seen.of("per tensor, fused").largest(&Kept::others_inputs),
               most_kept(options.heads));
  return global_share;
}

void updates_table(const LabOptions& options, Notebook& book) {
  struct Updates {
    ScaledHead by_sgd, by_adam;
  };
  std::vector<Way> all_ways = ways();
  all_ways.insert(all_ways.begin(), {nullptr, Layout::fused, "none"});
  const Grid<Way, Updates> seen(all_ways, draws, [&](const Way& way, auto draw) {
    const auto with = [&](bool adam) {
      return with_scaled_head(way.layout, options.width, options.heads,
                              seed_of_draw(options.seed, draw), clipped_rule(adam, way.clip),
                              Scaled::at_the_end);
    };
    return Updates{with(false), with(true)};
  });
  const auto head_0 = [](ScaledHead Updates::*by) {
    return [by](const Updates& one) { return (one.*by).ratio(0); };
  };
  const auto others = [](ScaledHead Updates::*by) {
    return [by](const Updates& one) { return (one.*by).others_ratio(); };
  };
  const auto sgd = &Updates::by_sgd, adam = &Updates::by_adam;
  const double sgd_global = seen.of(global).mean(others(sgd)).value,
               adam_global = seen.of(global).mean(others(adam)).value;
  Index touched = 0;
  for (const char* name : {"none", per_head}) {
    for (const Updates& one : seen.of(name).samples()) {
      touched += !one.by_sgd.others_unchanged() + !one.by_adam.others_unchanged();
    }
  }
  book.table(sentence("A global norm scales the other heads' updates by {:.2g} with SGD and by "
                      "{:.2g} with Adam",
                      sgd_global, adam_global),
             sentence("Ten unscaled steps, then one in which head 0's gradient is multiplied by "
                      "{:.0f}: the norm of a head's last update divided by the norm without that "
                      "factor. Mean of {} draws with 95 % intervals, and over the other heads. "
                      "Adam's moments still contain the earlier gradients of these heads.",
                      gradient_factor, draws),
             {"norm", "SGD: head 0", "SGD: other heads", "Adam: head 0", "Adam: other heads"},
             seen.rows(&Way::name, head_0(sgd), others(sgd), head_0(adam), others(adam)));
  book.equal("no clipping, per head: draws in which another head's update changes", double(touched),
             0);
  book.at_most("global, SGD: mean norm of the other heads' updates over that without the factor",
               sgd_global, most_kept(options.heads));
  book.more_than("global: this ratio with Adam over that with SGD", adam_global / sgd_global, 1);
}

void run(const LabOptions& options, Notebook& book) {
  layouts_table(options, book);
  const double share = kept_table(options, book);
  updates_table(options, book);
  book.answer(sentence("By the global norm, the usual choice, it is the same in both layouts, but "
                       "if one head's gradient is {:.0f} times larger, the other heads' gradients "
                       "shrink to at most {:.2g} of their norm. A norm per tensor depends on the "
                       "layout, and a norm per head leaves the other heads' gradients unchanged.",
                       gradient_factor, share),
              "The global norm scales all gradients by one factor and so keeps their direction. "
              "Fused heads share one in_proj_weight, separate heads share only the output Linear. "
              "Norms per projection or per head clip both layouts alike.");
}

}  // namespace clippings
}  // namespace

Experiment clipping_experiment() {
  return {.name = "clipping",
          .title = "Does clipping act the same on both layouts and on all heads?",
          .question =
              "Is a clipped gradient the same in both layouts, and which gradients shrink when one "
              "head's is far larger than the others'?",
          .computed =
              "The same heads in both layouts get the gradients of the same task, without biases. "
              "They are clipped by the global norm, per tensor, per projection and per head. Then "
              "the gradient of head 0 is multiplied by 100, and the remaining share of the other "
              "heads' gradients and updates (SGD and Adam) is measured.",
          .formulas =
              {"g <- g min(1, {\"limit\"}/{|g| + 1e-6}), |g| \"of all gradients or of each block\"",
               "\"global:\" |g|^2 = \"sum over heads and roles of\" |g_h|^2\", in any layout\""},
          .defaults = {.width = 64, .heads = 8},
          .limits = {.least_heads = 2, .most_heads = 16, .most_width = 256},
          .run = clippings::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
