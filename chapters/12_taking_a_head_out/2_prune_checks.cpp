// Checks Attention::prune in two layouts against the cut of each parameter, computed here, and
// against closed gates.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/attention.hpp"
#include "headroom/optim/adam.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

using Heads = std::vector<Index>;
using Arrays = std::map<std::string, Array>;

constexpr Layout layouts[] = {Layout::separate, Layout::fused};

std::unique_ptr<Attention> random_layer(Layout layout, std::uint64_t seed, Index heads = 4,
                                        Index width = 10) {
  Rng rng(seed, "12/2");
  auto layer = make_attention(
      layout, {.width = width, .heads = heads, .head_dim = 2 + Index(seed % 2)}, rng);
  for (NamedParameter& p : parameters(*layer)) {
    p.tensor.set_value(random_array(p.tensor.shape(), rng));
  }
  return layer;
}

/// Gives every parameter a gradient.
void backward(Attention& layer, std::uint64_t seed) {
  Rng rng(seed, "12/2 x");
  const Tensor x(random_array({2, 5, 10}, rng));
  layer(x, x, AttentionMask::none()).backward(random_array({2, 5, 10}, rng));
}

Arrays values_of(Attention& layer) {
  Arrays arrays;
  for (const NamedParameter& p : parameters(layer)) arrays[p.name] = p.tensor.value().clone();
  return arrays;
}

Arrays gradients_of(Attention& layer) {
  Arrays arrays;
  for (const NamedParameter& p : parameters(layer)) {
    arrays[p.name] = p.tensor.grad().defined() ? p.tensor.grad().clone() : Array();
  }
  return arrays;
}

/// The part of a parameter that a removal takes, by the slices from before it.
struct Part {
  int axis = 0;
  std::set<Index> goes;
  bool gone = false;
};

/// The indices of an axis of this length that are not in the set.
std::vector<Index> rest(Index length, const std::set<Index>& without) {
  std::vector<Index> indices;
  for (Index i = 0; i < length; ++i) {
    if (!without.contains(i)) indices.push_back(i);
  }
  return indices;
}

/// A layer before and after a removal.
struct Removal {
  Removal(Attention& layer, const Heads& heads)
      : removed(heads), before(values_of(layer)), gradients(gradients_of(layer)) {
    for (const auto& [name, array] : before) parts[name];
    for (const HeadSlice& slice : layer.head_slices()) {
      Part& part = parts[slice.name];
      part.axis = slice.axis;
      if (std::find(heads.begin(), heads.end(), slice.head) == heads.end()) continue;
      for (Index i = slice.begin; i < slice.end; ++i) part.goes.insert(i);
      // A parameter of one head goes with it: query.1.weight. in_proj_weight stays without rows.
      part.gone = slice.name.find('.') != slice.name.rfind('.');
    }
    edits = layer.prune(heads);
    after = values_of(layer);
    gradients_after = gradients_of(layer);
  }

  Heads removed;
  Arrays before, gradients, after, gradients_after;
  std::map<std::string, Part> parts;
  std::vector<ParameterEdit> edits;
};

bool same(const Array& a, const Array& b) {
  return a.shape() == b.shape() && std::equal(a.span().begin(), a.span().end(), b.span().begin());
}

void check_names(const Removal& removal) {
  std::vector<std::string> right, yours;
  for (const auto& [name, part] : removal.parts) {
    if (!part.gone) right.push_back(name);
  }
  for (const auto& [name, array] : removal.after) yours.push_back(name);
  std::string text;
  if (right != yours) {
    text = fmt::format("after the removal of head {} the parameters are {}, expected {}.",
                       fmt::join(removal.removed, ", "), fmt::join(yours, ", "),
                       fmt::join(right, ", "));
    for (const auto& [name, array] : removal.after) {
      for (const auto& [former, old] : removal.before) {
        if (former == name || !same(old, array)) continue;
        text += fmt::format(
            "\nIt looks as if names moved up: the parameter that was {} is called {} now, and the "
            "optimizer has the moments of another head for it. alive_ holds original numbers.",
            former, name);
        FAIL(text);
      }
    }
  }
  chapter::require(text.empty(), text);
}

/// Compares an array of each parameter with the part of the former one that should be left.
void check_arrays(const std::string& what, const Removal& removal, const Arrays& before,
                  const Arrays& after) {
  for (const auto& [name, part] : removal.parts) {
    const Array& old = before.at(name);
    if (part.gone || !old.defined()) continue;
    const Array left = gather(old, part.axis, rest(old.dim(part.axis), part.goes));
    chapter::require_equal(fmt::format("the elements of the {} of {}", what, name), left,
                           after.at(name));
  }
}

void check_gradients(const Removal& removal) {
  for (const auto& [name, array] : removal.after) {
    const Array& gradient = removal.gradients_after.at(name);
    chapter::require(
        gradient.defined(),
        fmt::format("{}: its gradient is gone. set_value(value, gradient) takes both; a "
                    "removal between backward() and step() would cost this parameter a "
                    "step.",
                    name));
    chapter::require(
        gradient.shape() == array.shape(),
        fmt::format("{}: the value was cut, the gradient was not: value {}, gradient {}.", name,
                    array.shape().text(), gradient.shape().text()));
  }
  check_arrays("gradient", removal, removal.gradients, removal.gradients_after);
}

void check_edits(const Removal& removal) {
  for (const auto& [name, part] : removal.parts) {
    const auto edit = std::find_if(removal.edits.begin(), removal.edits.end(),
                                   [&, &wanted = name](const auto& e) { return e.name == wanted; });
    const bool told = edit != removal.edits.end();
    if (part.gone) {
      chapter::require(told && edit->gone,
                       fmt::format("the optimizer was not told that {} is gone: it needs an edit "
                                   "{{.name = \"{}\", .gone = true}}.",
                                   name, name));
      continue;
    }
    if (!told && part.goes.empty()) continue;
    chapter::require(told, fmt::format("{} lost its {}, and the optimizer was not told: an edit is "
                                       "missing.",
                                       name, part.axis == 0 ? "rows" : "columns"));
    chapter::require(!edit->gone,
                     fmt::format("the edit of {} says that it is gone, but it is still "
                                 "in the layer.",
                                 name));
    const std::vector<Index> from = rest(removal.before.at(name).dim(part.axis), part.goes);
    chapter::require(
        edit->axis == part.axis && edit->from == from,
        fmt::format("the edit of {} has axis {} and from = {{{}}}, expected axis {} and "
                    "{{{}}}.",
                    name, edit->axis, fmt::join(edit->from, ", "), part.axis,
                    fmt::join(from, ", ")));
  }
}

/// A layer that has learned something, with its optimizer. Its loss is <dy, y>.
struct Learner {
  Learner(Layout layout, std::uint64_t seed)
      : layer(random_layer(layout, seed, 6, 5)), adam(*layer) {
    Rng rng(seed, "12/2 learner");
    x = Tensor(random_array({1, 3, 5}, rng));
    dy = random_array({1, 3, 5}, rng);
    step();
  }
  Tensor output() const { return (*layer)(x, x, x, AttentionMask::none(), ask).y; }
  void step() {
    adam.zero_grad();
    output().backward(dy);
    adam.step(0.01);
  }

  std::unique_ptr<Attention> layer;
  Adam adam;
  Tensor x;
  Array dy;
  AttentionAsk ask;
};

}  // namespace

TEST_CASE("names and values", "[12/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const Layout layout : layouts) {
      const auto layer = random_layer(layout, seed);
      const Removal removal(*layer, {1});
      check_names(removal);
      check_arrays("value", removal, removal.before, removal.after);
    }
  }
}

TEST_CASE("gradients", "[12/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const Layout layout : layouts) {
      const auto layer = random_layer(layout, seed);
      backward(*layer, seed);
      check_gradients(Removal(*layer, {1}));
    }
  }
}

TEST_CASE("edits for the optimizer", "[12/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const Layout layout : layouts) {
      const auto layer = random_layer(layout, seed);
      check_edits(Removal(*layer, {1, 2}));
    }
  }
}

TEST_CASE("one removal after the other", "[12/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const Layout layout : layouts) {
      const auto layer = random_layer(layout, seed);
      for (const Heads& heads : {Heads{1}, Heads{3, 0}, Heads{2}}) {
        backward(*layer, seed);
        const Removal removal(*layer, heads);
        check_names(removal);
        check_arrays("value", removal, removal.before, removal.after);
        check_edits(removal);
      }
    }
  }
}

TEST_CASE("a head that is not there", "[12/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const auto layer = random_layer(Layout::fused, seed);
    layer->prune(Heads{1});
    bool refused = false;
    try {
      layer->prune(Heads{2, 1});
    } catch (const UsageError&) {
      refused = true;
    }
    chapter::require(refused,
                     "head 1 was removed twice, and nobody complained: UsageError is missing.");
    chapter::require(
        std::ssize(layer->alive()) == 3,
        "prune({2, 1}) was refused because of head 1, but head 2 is gone: check all heads "
        "before the first change.");
  }
}

TEST_CASE("masked = removed for all 63 sets of 6 heads, through 2 steps", "[12/2]") {
  set_num_threads(1);  // for so small a layer, waking threads takes longer than the work
  for (const Layout layout : layouts) {
    for (unsigned set = 1; set < 64; ++set) {
      const std::uint64_t seed = chapter::seeds[set % std::size(chapter::seeds)];
      Learner masked(layout, seed), compact(layout, seed);
      Heads heads;
      Array gates({6}, 1);
      for (Index head = 0; head < 6; ++head) {
        if ((set >> head & 1U) == 0) continue;
        heads.push_back(head);
        gates[head] = 0;
      }
      masked.ask.gates = Tensor(gates);
      compact.adam.apply(compact.layer->prune(heads));
      for (int i = 0; i < 2; ++i) {
        masked.step();
        compact.step();
      }
      chapter::require_equal(fmt::format("the outputs of the {} layout without the heads {}",
                                         name_of(layout), fmt::join(heads, ", ")),
                             masked.output().value(), compact.output().value(),
                             {{"batch", "token", "channel"}, {}});
    }
  }
}
