// clipping: one norm for all gradients ignores the layout; a norm for each tensor does not.
#include "headroom/optim/clipping.hpp"
#include "headroom/base/extremes.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "headroom/heads/transplant.hpp"
#include "headroom/lab/experiment.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/sgd.hpp"
#include "lab/imitation.hpp"
#include "lab/loud_head.hpp"
#include "lab/numbers.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace clippings {

constexpr int draws = 5;

/// A way to clip; returns the norm before, the largest one where there are several.
struct Clip {
  const char* name;
  double (*apply)(Module&, double limit);
};

template <Granularity granularity>
double clip_blocks(Module& module, double limit) {
  return clip_block_norms(module, limit, granularity);
}

constexpr Clip clips[] = {{"global", clip_grad_norm},
                          {"per tensor", clip_blocks<Granularity::tensor>},
                          {"per projection", clip_blocks<Granularity::projection>},
                          {"per head", clip_blocks<Granularity::head>}};
constexpr std::size_t global = 0, per_tensor = 1, per_head = 3;

constexpr double no_limit = std::numeric_limits<double>::max();

constexpr double margin = 1.001;
/// A limit that clips nothing of what is there now, the 1e-6 of the rule included.
double limit_of_now(const Clip& clip, Module& module) {
  return margin * clip.apply(module, no_limit) + 1e-6;
}

/// The same heads in both layouts, each with its own gradients of the same task.
struct Twins {
  std::unique_ptr<Attention> layers[std::size(both_layouts)];

  Attention& separate() const { return *layers[0]; }
  Attention& fused() const { return *layers[1]; }
};

Twins twins(const LabOptions& options, std::uint64_t draw) {
  Rng rng(options.seed, "clipping", draw);
  Twins result;
  const Imitation task(options.width, options.heads, seed_of_draw(options.seed, draw), false);
  for (std::size_t i = 0; i < std::size(both_layouts); ++i) {
    result.layers[i] = make_attention(
        both_layouts[i], {.width = options.width, .heads = options.heads, .bias = false}, rng);
    if (i > 0) transplant(result.separate(), *result.layers[i]);
    imitation_gradients(*result.layers[i], task.batch(0));
  }
  return result;
}

/// How one way to clip acts on the same gradients in the two layouts; the limit is half of the
/// largest norm of a head's block, so that something is clipped in every way.
struct Agreement {
  double norms[std::size(both_layouts)];  // before
  double apart = 0;                       // the gradients after it, relative
  double off_limit = 0;                   // |largest norm after it / limit - 1|
};

Agreement agreement(const Clip& clip, const LabOptions& options, std::uint64_t draw) {
  const Twins pair = twins(options, draw);
  const double limit = clips[per_head].apply(pair.separate(), no_limit) / 2;
  Agreement result;
  for (std::size_t i = 0; i < std::size(both_layouts); ++i) {
    result.norms[i] = clip.apply(*pair.layers[i], limit);
  }
  result.apart = gradient_distance(pair.separate(), pair.fused()).largest;
  for (const auto& layer : pair.layers) {
    const double after = clip.apply(*layer, no_limit);
    result.off_limit = larger(result.off_limit, std::abs(after / limit - 1));
  }
  return result;
}

/// What is left of the gradients after clipping, when head 0 is `loudness` times as loud as it was
/// and the limit is what nothing exceeded before.
struct Kept {
  double quiet_inputs = 0, quiet_output = 0;  // mean shares of the others' Q, K, V and O blocks
  double least_inputs = 1, least_output = 1;  // the smallest of any of them
  double loud = 0;                            // share of all of head 0's
  double cosine = 0;                          // of the whole gradient after with before
  double by_norms = 0;                        // what a global norm must leave, from the two norms
};

/// The norm of all blocks together.
double norm_of(const HeadBlocks& blocks) {
  double squares = 0;
  for (const auto& [place, block] : blocks) squares += inner(block, block);
  return std::sqrt(squares);
}

/// |after| / |before| of some roles of a head.
double share_kept(const HeadBlocks& before, const HeadBlocks& after, Index head, bool inputs,
                  bool outputs) {
  double squares_before = 0, squares_after = 0;
  for (const auto& [place, block] : before) {
    const bool is_output = place.first == HeadRole::output;
    if (place.second != head || !(is_output ? outputs : inputs)) continue;
    squares_before += inner(block, block);
    squares_after += inner(after.at(place), after.at(place));
  }
  return std::sqrt(squares_after / squares_before);
}

Kept kept(const Clip& clip, Attention& layer) {
  const double limit = limit_of_now(clip, layer), ordinary_norm = norm_of(head_gradients(layer));
  scale_gradient(layer, 0, static_cast<Real>(loudness));
  const HeadBlocks before = head_gradients(layer);
  clip.apply(layer, limit);
  const HeadBlocks after = head_gradients(layer);
  Kept result;
  const Index heads = layer.config().heads;
  for (Index head = 1; head < heads; ++head) {
    const double inputs = share_kept(before, after, head, true, false),
                 output = share_kept(before, after, head, false, true);
    result.quiet_inputs += inputs / static_cast<double>(heads - 1);
    result.quiet_output += output / static_cast<double>(heads - 1);
    result.least_inputs = smaller(result.least_inputs, inputs);
    result.least_output = smaller(result.least_output, output);
  }
  result.loud = share_kept(before, after, 0, true, true);
  double product = 0;
  for (const auto& [place, block] : before) product += inner(block, after.at(place));
  result.cosine = product / (norm_of(before) * norm_of(after));
  result.by_norms = (margin * ordinary_norm + 1e-6) / (norm_of(before) + 1e-6);
  return result;
}

/// A rule that clips at what no norm of the ordinary copy exceeds in that step; nullptr: never.
TrainingRule clipped_rule(bool adam, const Clip* clip) {
  TrainingRule rule;
  if (adam) {
    rule.make = [](Module& m) { return std::make_unique<Adam>(m); };
    rule.rate = 0.01;
  } else {
    rule.make = [](Module& m) { return std::make_unique<Sgd>(m); };
    rule.rate = 1;
  }
  if (clip == nullptr) return rule;
  rule.clip = [clip](Attention& ordinary, Attention& loud) {
    clip->apply(loud, limit_of_now(*clip, ordinary));
  };
  return rule;
}

/// A way to clip in one layout: a row of the tables.
struct Way {
  const Clip* clip;  // nullptr: none
  Layout layout;
  std::string name;
};

/// Only the norm per tensor has two faces; of the others the fused layout is shown.
std::vector<Way> ways() {
  std::vector<Way> result;
  for (const Clip& clip : clips) {
    const bool two_faces = &clip == &clips[per_tensor];
    for (const Layout layout : both_layouts) {
      if (!two_faces && layout == Layout::separate) continue;
      std::string name = clip.name;
      if (two_faces) name += layout == Layout::separate ? ", separate" : ", fused";
      result.push_back({&clip, layout, name});
    }
  }
  return result;
}

void layouts_table(const LabOptions& options, Notebook& book) {
  Notebook::Rows rows;
  double norms = 0, agreeing = 0, differing = std::numeric_limits<double>::max(), off_limit = 0;
  for (const Clip& clip : clips) {
    std::vector<double> separate, fused, apart;
    for (std::uint64_t i = 0; i < draws; ++i) {
      const Agreement seen = agreement(clip, options, i);
      separate.push_back(seen.norms[0]);
      fused.push_back(seen.norms[1]);
      apart.push_back(seen.apart);
      off_limit = larger(off_limit, seen.off_limit);
      if (&clip == &clips[per_tensor]) continue;
      norms = larger(norms, std::abs(seen.norms[0] / seen.norms[1] - 1));
    }
    if (&clip == &clips[per_tensor]) {
      differing = smallest(apart);
    } else {
      agreeing = larger(agreeing, largest(apart));
    }
    rows.push_back({clip.name, mean_interval(separate), mean_interval(fused), largest(apart)});
  }
  book.table(
      sentence("A norm per tensor clips the layouts apart, by {:.2g} or more in every draw, the "
               "other norms by {:.1g} at most",
               differing, agreeing),
      sentence("The same heads with the same gradients in both layouts. Norm: the "
               "largest that was found, before clipping at half of the largest norm of a "
               "head's block; mean of {} draws with 95 % intervals. Apart: max "
               "|difference| / max |value| of the gradients afterwards, largest draw.",
               draws),
      {"norm", "separate: norm", "fused: norm", "apart"}, rows);
  book.at_most("every way to clip: largest norm afterwards over the limit, away from 1", off_limit,
               1e-3);
  book.at_most("global, per projection, per head: norms of the two layouts, relative difference",
               norms, same_gradients);
  book.at_most("global, per projection, per head: clipped gradients of the two layouts", agreeing,
               same_gradients);
  book.more_than("per tensor: clipped gradients of the two layouts, smallest difference", differing,
                 1e-3);
}

/// What the others keep beside a loud head at most: heads with gradients of one size keep
/// sqrt(h) / loudness, and head 0 may begin with a third of the others' size.
double most_kept(Index heads) { return 3 * std::sqrt(static_cast<double>(heads)) / loudness; }

/// Returns the largest share that quiet heads keep under the global norm.
double kept_table(const LabOptions& options, Notebook& book) {
  Notebook::Rows rows;
  double global_share = 0, untouched = 1, untouched_inputs = 1, fused_share = 0, turned = 0;
  double from_norms = 0;  // the share under a global norm against that of the norms
  for (const Way& way : ways()) {
    std::vector<double> inputs, output, loud, cosines;
    for (std::uint64_t i = 0; i < draws; ++i) {
      const Twins pair = twins(options, i);
      const Kept seen =
          kept(*way.clip, way.layout == Layout::separate ? pair.separate() : pair.fused());
      inputs.push_back(seen.quiet_inputs);
      output.push_back(seen.quiet_output);
      loud.push_back(seen.loud);
      cosines.push_back(seen.cosine);
      if (way.clip == &clips[global]) {
        turned = larger(turned, std::abs(1 - seen.cosine));
        from_norms = larger(from_norms, std::abs(seen.quiet_inputs / seen.by_norms - 1));
      }
      if (way.clip == &clips[per_head]) {
        untouched = smaller(untouched, smaller(seen.least_inputs, seen.least_output));
      }
      if (way.clip == &clips[per_tensor] && way.layout == Layout::separate) {
        untouched_inputs = smaller(untouched_inputs, seen.least_inputs);
      }
    }
    if (way.clip == &clips[global]) global_share = largest(inputs);
    if (way.clip == &clips[per_tensor] && way.layout == Layout::fused) {
      fused_share = largest(inputs);
    }
    rows.push_back({way.name, mean_interval(inputs), mean_interval(output), mean_interval(loud),
                    mean_interval(cosines)});
  }
  book.table(sentence("One loud head leaves the others at most {:.2g} of their gradients under a "
                      "global norm",
                      global_share),
             sentence("Head 0's gradient is multiplied by {:.0f}; the limit is the largest norm "
                      "before that. Shares of the norms that are left; cosine of the whole "
                      "gradient with what it was; mean of {} draws with 95 % intervals.",
                      loudness, draws),
             {"norm", "quiet heads: Q, K, V", "quiet heads: W_O", "loud head", "cosine"}, rows);
  book.at_most("global: quiet heads' share against 1.001 |g| / |g with the loud head|, relative",
               from_norms, same_gradients);
  book.at_most("global: largest share that quiet heads keep", global_share,
               most_kept(options.heads));
  book.at_most("global: cosine of the gradient with what it was, away from 1", turned, same_values);
  book.equal("per head: smallest share that quiet heads keep", untouched, 1);
  book.equal("per tensor, separate: smallest share that quiet heads keep of Q, K, V",
             untouched_inputs, 1);
  book.at_most("per tensor, fused: largest share that quiet heads keep of Q, K, V", fused_share,
               most_kept(options.heads));
  return global_share;
}

void updates_table(const LabOptions& options, Notebook& book) {
  std::vector<Way> rows_of = ways();
  rows_of.insert(rows_of.begin(), {nullptr, Layout::fused, "none"});
  Notebook::Rows rows;
  Index touched = 0;
  double sgd_global = 0, adam_global = 0;
  for (const Way& way : rows_of) {
    std::vector<Value> row{way.name};
    for (const bool adam : {false, true}) {
      std::vector<double> loud, quiet;
      for (std::uint64_t i = 0; i < draws; ++i) {
        const LoudHead seen =
            with_loud_head(way.layout, options.width, options.heads, seed_of_draw(options.seed, i),
                           clipped_rule(adam, way.clip), Loud::at_the_end);
        loud.push_back(seen.ratio(0));
        quiet.push_back(seen.quiet_ratio());
        if (way.clip == nullptr || way.clip == &clips[per_head]) {
          touched += !seen.quiet_is_untouched();
        }
      }
      row.push_back(mean_interval(loud));
      row.push_back(mean_interval(quiet));
      if (way.clip == &clips[global])
        (adam ? adam_global : sgd_global) = mean_interval(quiet).value;
    }
    rows.push_back(row);
  }
  book.table(sentence("Under a global norm the quiet heads' updates shrink to {:.2g} with SGD, "
                      "to {:.2g} with Adam",
                      sgd_global, adam_global),
             sentence("Ten ordinary steps, then one in which head 0 is {:.0f} times as loud: "
                      "the size of a head's last update over that without the outburst. Mean of "
                      "{} draws with 95 % intervals; quiet: mean over the other heads. Adam "
                      "goes on with what it remembers of the quiet heads.",
                      loudness, draws),
             {"norm", "SGD: loud head", "SGD: quiet heads", "Adam: loud head", "Adam: quiet heads"},
             rows);
  book.equal("no clipping, per head: draws in which a quiet head's update changes by a bit",
             static_cast<double>(touched), 0);
  book.at_most("global, SGD: mean size of the quiet heads' updates, of that without the outburst",
               sgd_global, most_kept(options.heads));
  book.more_than("global: the same with Adam over that with SGD", adam_global / sgd_global, 1);
}

void run(const LabOptions& options, Notebook& book) {
  layouts_table(options, book);
  const double share = kept_table(options, book);
  updates_table(options, book);
  book.answer(sentence(
      "A global norm, the usual one, is the same number in both layouts and shortens everything by "
      "one factor: it keeps the direction, but one head that is {:.0f} times as loud leaves the "
      "others at most {:.2g} of their gradients. A norm per tensor depends on the layout (fused "
      "heads share one in_proj_weight, separate heads only the output Linear); norms per "
      "projection or per head clip both layouts alike, and per head no other head loses a bit.",
      loudness, share));
}

}  // namespace clippings
}  // namespace

Experiment clipping_experiment() {
  return {.name = "clipping",
          .title = "Does clipping treat both layouts, and all heads, alike?",
          .question =
              "Gradients are clipped by their norm: of all together, or of each tensor. The same "
              "heads stand in one tensor or in many; is the clipped gradient still the same? And "
              "if one head's gradient is far larger than the others', who pays for it?",
          .computed =
              "The same heads in both layouts get the gradients of the same task, without biases. "
              "They are clipped by the global norm, per tensor, per projection and per head. Then "
              "the gradient of head 0 is multiplied by 100, and what is left of the others' "
              "gradients and updates (SGD and Adam) is measured.",
          .formulas = {"g *= min(1, limit / (|g| + 1e-6)), with |g| over all, or over each block",
                       "global: |g|^2 = sum over heads and roles of |g_h|^2, in any layout"},
          .defaults = {.width = 64, .heads = 8},
          .limits = {.least_heads = 2, .most_heads = 16, .most_width = 256},
          .run = clippings::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
