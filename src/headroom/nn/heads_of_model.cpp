// The attentions of a whole model: finding them, naming their heads, removing heads.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "headroom/base/error.hpp"
#include "headroom/nn/attention.hpp"
#include "headroom/nn/gates.hpp"
#include "headroom/nn/head_share.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::string AttentionLocation::text() const { return fmt::format("{} {}", name_of(kind), layer); }

Tensor attend(const Attention& attention, const Tensor& query, const Tensor& memory,
              const AttentionMask& mask, HeadProbe* probe, KeyValueCache* cache) {
  if (probe == nullptr) return attention(query, memory, memory, mask, {}, cache).y;
  const AttentionLocation& location = attention.location();
  const auto given = probe->gates.find(location);
  Tensor gates = given == probe->gates.end() ? Tensor() : given->second;
  if (probe->drop_head > 0) {
    const std::uint64_t stream = hash_name(attention.path() + ".drop_head");
    gates = product_of_gates(
        gates, drop_head_gates(query.dim(0), attention.config().heads, probe->drop_head, stream));
  }
  const AttentionAsk ask{probe->maps, probe->head_out, probe->rows, gates};
  AttentionOut out = attention(query, memory, memory, mask, ask, cache);
  const Tensor y = out.y;
  if (probe->maps || probe->head_out || probe->rows) probe->seen[location] = std::move(out);
  return y;
}

std::vector<NamedAttention> attentions(Module& model) {
  std::vector<NamedAttention> result;
  for (const auto& [name, module] : modules(model)) {
    auto* const attention = dynamic_cast<Attention*>(module);
    const bool known = std::any_of(result.begin(), result.end(),
                                   [&](const auto& other) { return other.attention == attention; });
    if (attention != nullptr && !known) result.push_back({name, attention});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.location() < b.location(); });
  const auto twice =
      std::adjacent_find(result.begin(), result.end(),
                         [](const auto& a, const auto& b) { return a.location() == b.location(); });
  if (twice != result.end()) {
    throw UsageError(fmt::format(
        "attentions: {} and {} have the same location, {}; give each its own with set_location(), "
        "or set it with its layer's set_attention()",
        twice->name, std::next(twice)->name, twice->location().text()));
  }
  return result;
}

namespace {

/// "encoder 0-1, decoder 0": the locations of a model's attentions, in their order.
std::string locations_text(const std::vector<NamedAttention>& all) {
  std::string text;
  for (std::size_t i = 0, last = 0; i < all.size(); i = last + 1) {
    const AttentionLocation first = all[i].location();
    for (last = i; last + 1 < all.size(); ++last) {
      const AttentionLocation next = all[last + 1].location();
      if (next.kind != first.kind || next.layer != all[last].location().layer + 1) break;
    }
    if (!text.empty()) text += ", ";
    text += first.text();
    if (last > i) text += fmt::format("-{}", all[last].location().layer);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

NamedAttention attention_at(Module& model, const AttentionLocation& location,
                            const std::string& caller) {
  const std::vector<NamedAttention> all = attentions(model);
  for (const NamedAttention& found : all) {
    if (found.location() == location) return found;
  }
  throw UsageError(fmt::format("{}: the model has no attention {}; it has {}", caller,
                               location.text(), locations_text(all)));
}

void check_gates(const Module& model, const HeadProbe* probe) {
  if (probe == nullptr) return;
  for (const auto& [location, gates] : probe->gates) {
    attention_at(const_cast<Module&>(model), location, "gates");  // members() only lists here
  }
}

std::vector<HeadId> live_heads(Module& model) {
  std::vector<HeadId> heads;
  for (const NamedAttention& found : attentions(model)) {
    for (const Index head : found.attention->alive()) {
      heads.push_back(found.id(head));
    }
  }
  return heads;
}

std::vector<HeadId> removed_heads(Module& model) {
  std::vector<HeadId> heads;
  for (const NamedAttention& found : attentions(model)) {
    const auto alive = found.attention->alive();
    for (Index head = 0; head < found.attention->config().heads; ++head) {
      const bool lives = std::find(alive.begin(), alive.end(), head) != alive.end();
      if (!lives) heads.push_back(found.id(head));
    }
  }
  return heads;
}

namespace {

/// Appends the edits of one attention's parameters to those of a model.
void append_edits(std::vector<ParameterEdit>& edits, const NamedAttention& attention,
                  std::vector<ParameterEdit> more) {
  for (ParameterEdit& edit : more) {
    edit.name = attention.full_name(edit.name);
    edits.push_back(std::move(edit));
  }
}

}  // namespace

std::vector<ParameterEdit> prune(Module& model, std::span<const HeadId> heads) {
  const std::vector<HeadId> alive = live_heads(model);
  for (const HeadId& head : heads) {  // check all before removing any
    const NamedAttention found =
        attention_at(model, {head.kind, head.layer}, "prune " + head.text());
    if (std::find(alive.begin(), alive.end(), head) == alive.end()) {
      const std::span<const Index> there = found.attention->alive();
      throw UsageError(
          fmt::format("prune: the model has no live head {}; alive there are {}", head.text(),
                      there.empty() ? "none" : fmt::format("{}", fmt::join(there, ", "))));
    }
  }
  std::vector<ParameterEdit> edits;
  for (const NamedAttention& found : attentions(model)) {
    std::vector<Index> here;
    for (const HeadId& head : heads) {
      if (found.id(head.head) == head) here.push_back(head.head);
    }
    if (!here.empty()) append_edits(edits, found, found.attention->prune(here));
  }
  return edits;
}

std::vector<ParameterEdit> regrow(Module& model, std::span<const HeadShare> heads) {
  const std::vector<NamedAttention> all = attentions(model);
  std::map<AttentionLocation, std::vector<HeadShare>> wanted;
  for (const HeadShare& share : heads) {
    const AttentionLocation location{share.head.kind, share.head.layer};
    attention_at(model, location, "regrow");
    wanted[location].push_back(share);
  }
  std::vector<ParameterEdit> edits;
  std::vector<HeadId> grown;
  try {
    for (const NamedAttention& found : all) {
      const auto here = wanted.find(found.location());
      if (here == wanted.end()) continue;
      append_edits(edits, found, found.attention->regrow(here->second));
      for (const HeadShare& share : here->second) grown.push_back(share.head);
    }
  } catch (...) {  // one attention refused: those before it get rid of their new heads
    prune(model, grown);
    throw;
  }
  return edits;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
