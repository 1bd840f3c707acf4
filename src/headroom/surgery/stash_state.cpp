// Stashes as a part of a checkpoint.
#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/surgery/regrowth.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A part of a head, without its arrays.
struct PartEntry {
  HeadRole role = HeadRole::query;
  std::string name;
  Index axis = 0;
  bool moments = false, first = false, second = false;  // whether they are kept

  using T = PartEntry;
  using Fields = Listed<&T::role, &T::name, &T::axis, &T::moments, &T::first, &T::second>;
};

struct HeadEntry {
  HeadId head;
  std::vector<PartEntry> parts;

  using T = HeadEntry;
  using Fields = Listed<fields_of<&T::head>, &T::parts>;
};

/// "3.1.value": an array of part 1 of head 3.
std::string entry_name(std::size_t head, std::size_t part, const char* what) {
  return fmt::format("{}.{}.{}", head, part, what);
}

/// Throws FileError for counts and squares with which a step would compute no number.
void check_moments(const OptimizerState& state, const std::string& where) {
  for (const std::int64_t count : state.steps) {
    if (count < 0 || count > std::int64_t{1} << 53) {
      throw FileError(fmt::format("{}: {} is no number of steps", where, count));
    }
  }
  for (const Real square : state.second.span()) {
    if (square < 0) throw FileError(fmt::format("{}: {} is negative", where, square));
  }
}

}  // namespace

void save_stashes(StateWriter to, std::span<const HeadStash> heads) {
  std::vector<HeadEntry> entries;
  for (const HeadStash& stash : heads) {
    HeadEntry& entry = entries.emplace_back(HeadEntry{stash.share.head, {}});
    for (const auto& [part, value] : stash.share.value) {
      const auto name = [&](const char* what) {
        return entry_name(entries.size() - 1, entry.parts.size(), what);
      };
      PartEntry described{part.role, part.name};
      to.array(name("value"), value);
      if (const auto found = stash.moments.find(part); found != stash.moments.end()) {
        const OptimizerState& state = found->second;
        described.axis = state.axis;
        described.moments = true;
        described.first = state.first.defined();
        described.second = state.second.defined();
        if (described.first) to.array(name("first"), state.first);
        if (described.second) to.array(name("second"), state.second);
        to.integers(name("steps"), state.steps);
      }
      entry.parts.push_back(described);
    }
  }
  to.record("heads", json_of(entries));
}

std::vector<HeadStash> load_stashes(const StateReader& from) {
  std::vector<HeadEntry> entries;
  try {
    entries = struct_of<std::vector<HeadEntry>>(from.record("heads"), from.where("heads"));
  } catch (const DataError& error) {
    throw FileError(error.what());
  }
  std::vector<HeadStash> heads;
  for (std::size_t h = 0; h < entries.size(); ++h) {
    HeadStash& stash = heads.emplace_back();
    stash.share.head = entries[h].head;
    for (std::size_t p = 0; p < entries[h].parts.size(); ++p) {
      const PartEntry& entry = entries[h].parts[p];
      const HeadPart part(entry.role, entry.name);
      const Array value = from.array(entry_name(h, p, "value"));
      if (!stash.share.value.emplace(part, value).second || entry.axis < 0 ||
          entry.axis >= value.rank()) {
        throw FileError(fmt::format("{}: part {} of {} is given twice or has no axis {}",
                                    from.where("heads"), p, entries[h].head.text(), entry.axis));
      }
      if (!entry.moments) continue;
      OptimizerState& state = stash.moments[part];
      state.axis = int(entry.axis);
      if (entry.first) state.first = from.array(entry_name(h, p, "first"), value.shape());
      if (entry.second) state.second = from.array(entry_name(h, p, "second"), value.shape());
      state.steps = from.integers(entry_name(h, p, "steps"));
      check_moments(state, from.where(entry_name(h, p, "steps")));
    }
  }
  return heads;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
