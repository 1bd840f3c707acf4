// The heads that a budget allows to be removed.
#include "headroom_measure/importance/budget.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Heads of a kind or of an attention.
struct Group {
  Index original = 0, live = 0;
  Index room = 0;   // heads that can be removed
  Index quota = 0;  // heads that are to be removed
};

/// Gives `remove` removals to the groups, each to the one with the greatest share of its original
/// heads left, of equal ones the largest. `may` says whether one more can be removed from a group.
template <class Key, class May>
void share_out(std::map<Key, Group>& groups, Index remove, May may) {
  const auto comes_before = [](const Group& a, const Group& b) {
    // Shares left / original, compared without rounding.
    const Index left_a = (a.live - a.quota) * b.original, left_b = (b.live - b.quota) * a.original;
    return left_a != left_b ? left_a > left_b : a.original > b.original;
  };
  for (Index i = 0; i < remove; ++i) {
    Group* next = nullptr;
    for (auto& [key, group] : groups) {
      if (may(key, group) && (next == nullptr || comes_before(group, *next))) next = &group;
    }
    ++next->quota;  // there is one: the caller has checked that `remove` heads can be removed
  }
}

/// The attentions and the kinds of a model, and what can be removed from each.
struct Rooms {
  std::map<AttentionLocation, Group> places;
  std::map<AttentionKind, Group> kinds;
  Index most = 0;  // that can be removed from the whole model
};

std::map<AttentionLocation, HeadCounts> counts_of(Module& model,
                                                  std::span<const HeadId> candidates) {
  std::map<AttentionLocation, HeadCounts> counts;
  for (const NamedAttention& found : attentions(model)) {
    const AttentionLocation place = found.location();
    counts[place] = {
        .original = found.attention->config().heads,
        .live = std::ssize(found.attention->alive()),
        .candidates = std::count_if(candidates.begin(), candidates.end(), [&](const HeadId& head) {
          return AttentionLocation{head.kind, head.layer} == place;
        })};
  }
  return counts;
}

Rooms rooms_of(const std::map<AttentionLocation, HeadCounts>& counts, const Budget& budget) {
  Rooms rooms;
  for (const auto& [location, heads] : counts) {
    const Index room = std::clamp(heads.live - budget.at_least, Index{0}, heads.candidates);
    rooms.places[location] = {.original = heads.original, .live = heads.live, .room = room};
    Group& kind = rooms.kinds[location.kind];
    kind.original += heads.original;
    kind.live += heads.live;
    kind.room += room;
  }
  for (auto& [key, kind] : rooms.kinds) {
    kind.room = std::clamp(kind.live - budget.at_least_of_kind, Index{0}, kind.room);
    rooms.most += kind.room;
  }
  return rooms;
}

}  // namespace

Allowance::Allowance(Module& model, std::span<const HeadId> candidates, Index remove,
                     const Budget& budget)
    : left_(remove) {
  if (remove < 0 || budget.at_least < 0 || budget.at_least_of_kind < 0) {
    throw UsageError(
        fmt::format("budget: {} heads to remove, at least {} in each attention and {} of each kind "
                    "to keep; none of these may be negative",
                    remove, budget.at_least, budget.at_least_of_kind));
  }
  Rooms rooms = rooms_of(counts_of(model, candidates), budget);
  auto& places = rooms.places;
  auto& kinds = rooms.kinds;
  if (rooms.most < remove) {
    throw UsageError(
        fmt::format("prune: {} heads cannot be removed if each attention keeps {} and each kind of "
                    "attention {}; at most {} can",
                    remove, budget.at_least, budget.at_least_of_kind, rooms.most));
  }
  if (budget.over == BudgetOver::per_kind) {
    share_out(kinds, remove, [](const auto&, const Group& kind) { return kind.quota < kind.room; });
    for (auto& [key, kind] : kinds) kind.room = kind.quota;
  }
  if (budget.over == BudgetOver::per_layer) {
    share_out(places, remove, [&](const AttentionLocation& location, const Group& place) {
      Index of_kind = 0;
      for (const auto& [other, group] : places) {
        if (other.kind == location.kind) of_kind += group.quota;
      }
      return place.quota < place.room && of_kind < kinds.at(location.kind).room;
    });
    for (auto& [key, place] : places) place.room = place.quota;
  }
  for (const auto& [key, place] : places) room_[key] = place.room;
  for (const auto& [key, kind] : kinds) room_of_kind_[key] = kind.room;
}

bool Allowance::allows(const HeadId& head) const {
  return left_ > 0 && room_.at({head.kind, head.layer}) > 0 && room_of_kind_.at(head.kind) > 0;
}

void Allowance::take(const HeadId& head) {
  --room_.at({head.kind, head.layer});
  --room_of_kind_.at(head.kind);
  --left_;
}

void Allowance::give_back(const HeadId& head) {
  ++room_.at({head.kind, head.layer});
  ++room_of_kind_.at(head.kind);
  ++left_;
}

Index most_removable(Module& model, std::span<const HeadId> candidates, const Budget& budget) {
  return most_removable(counts_of(model, candidates), budget);
}

Index most_removable(const std::map<AttentionLocation, HeadCounts>& counts, const Budget& budget) {
  return rooms_of(counts, budget).most;
}

std::vector<HeadId> first_allowed(Module& model, std::span<const HeadId> order, Index remove,
                                  const Budget& budget) {
  Allowance allowance(model, order, remove, budget);
  std::vector<HeadId> first;
  for (const HeadId& head : order) {
    if (!allowance.allows(head)) continue;
    allowance.take(head);
    first.push_back(head);
  }
  return first;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
