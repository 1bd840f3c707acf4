// The record of an experiment in both precisions, from one record in each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom_lab/lab/lab_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The names of the two precisions.
struct Pair {
  std::string first, second;
};

std::string with(const std::string& name, const std::string& precision) {
  return fmt::format("{} ({})", name, precision);
}

/// Returns true if the difference of the values is too small to see. On a logarithmic axis the
/// relative difference counts. NaN differs from everything.
bool look_equal(double a, double b, bool log) {
  const double smallest_seen = log ? 0 : 1e-3;
  return std::abs(a - b) <= 1e-3 * std::max({smallest_seen, std::abs(a), std::abs(b)});
}

bool look_equal(const std::pair<double, double>& a, const std::pair<double, double>& b, bool log) {
  return look_equal(a.first, b.first, log) && look_equal(a.second, b.second, log);
}

template <class T>
bool look_equal(const std::vector<T>& a, const std::vector<T>& b, bool log) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const T& p, const T& q) { return look_equal(p, q, log); });
}

/// Merges curves, maps or matrices: each appears once where its values look equal, else under both
/// names.
template <class Entry, class Numbers>
std::vector<Entry> merged_list(const std::vector<Entry>& a, const std::vector<Entry>& b,
                               Numbers Entry::*numbers, const Pair& names, bool log = false) {
  std::vector<Entry> result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    result.push_back(a[i]);
    if (a[i].name == b[i].name && look_equal(a[i].*numbers, b[i].*numbers, log)) continue;
    result.back().name = with(a[i].name, names.first);
    result.push_back(b[i]);
    result.back().name = with(b[i].name, names.second);
  }
  return result;
}

// ---------------------------------------------------------------- whether blocks can be merged

bool same_form(const Table& a, const Table& b) {
  return a.type == b.type && a.columns == b.columns && a.rows.size() == b.rows.size();
}
bool same_form(const Chart& a, const Chart& b) { return a.series.size() == b.series.size(); }
bool same_form(const LabMaps& a, const LabMaps& b) {
  return a.queries == b.queries && a.keys == b.keys && a.maps.size() == b.maps.size();
}
bool same_form(const LabHeads& a, const LabHeads& b) {
  return json_of(a.matrices) == json_of(b.matrices);
}
bool same_form(const LabDerivation& a, const LabDerivation& b) {
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                    [](const LabDerivation::Step& p, const LabDerivation::Step& q) {
                      return p.parts.size() == q.parts.size();
                    });
}
bool same_form(const LabBlock& a, const LabBlock& b) {
  return a.index() == b.index() && std::visit(
                                       [&](const auto& kind) {
                                         using Kind = std::decay_t<decltype(kind)>;
                                         return same_form(kind, std::get<Kind>(b));
                                       },
                                       a);
}

// ---------------------------------------------------------------- merging blocks of one form

/// Equal columns appear once, others side by side.
void merge(Table& to, const Table& from, const Pair& names) {
  const Table own = to;
  to.columns.clear();
  for (auto& row : to.rows) row.clear();
  for (std::size_t c = 0; c < own.columns.size(); ++c) {
    const auto add = [&](const std::string& title, const Table& table) {
      to.columns.push_back(title);
      for (std::size_t r = 0; r < to.rows.size(); ++r) to.rows[r].push_back(table.rows[r][c]);
    };
    bool equal = true;
    for (std::size_t r = 0; r < to.rows.size(); ++r) {
      equal = equal && json_of(own.rows[r][c]) == json_of(from.rows[r][c]);
    }
    add(equal ? own.columns[c] : with(own.columns[c], names.first), own);
    if (!equal) add(with(own.columns[c], names.second), from);
  }
}
void merge(Chart& to, const Chart& from, const Pair& names) {
  to.series = merged_list(to.series, from.series, &Chart::Series::points, names, to.log);
}
void merge(LabMaps& to, const LabMaps& from, const Pair& names) {
  to.top = std::max(to.top, from.top);
  to.maps = merged_list(to.maps, from.maps, &LabMaps::Map::rows, names);
}
void merge(LabHeads&, const LabHeads&, const Pair&) {}  // they are equal
void merge(LabDerivation& to, const LabDerivation& from, const Pair& names) {
  for (std::size_t i = 0; i < to.steps.size(); ++i) {
    to.steps[i].parts =
        merged_list(to.steps[i].parts, from.steps[i].parts, &LabDerivation::Part::corner, names);
  }
}

std::vector<LabBlock> merged_blocks(std::vector<LabBlock> a, const std::vector<LabBlock>& b,
                                    const Pair& names) {
  const bool same =
      std::equal(a.begin(), a.end(), b.begin(), b.end(),
                 [](const LabBlock& p, const LabBlock& q) { return same_form(p, q); });
  if (same) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      std::visit(
          [&](auto& to) {
            const auto& from = std::get<std::decay_t<decltype(to)>>(b[i]);
            merge(to, from, names);
            to.title = joined(to.title, names.second, from.title);
            to.caption = joined(to.caption, names.second, from.caption);
          },
          a[i]);
    }
    return a;
  }
  std::vector<LabBlock> result;
  const auto add = [&](const std::vector<LabBlock>& blocks, const std::string& precision) {
    for (const LabBlock& block : blocks) {
      result.push_back(block);
      std::visit([&](auto& kind) { kind.title = sentence("{} ({})", kind.title, precision); },
                 result.back());
    }
  };
  add(a, names.first);
  add(b, names.second);
  for (auto later = result.begin() + std::ssize(a); later != result.end(); ++later) {
    std::visit([](auto& kind) { kind.figure = false; }, *later);
  }
  return result;
}

std::vector<LabClaim> merged_claims(std::vector<LabClaim> claims,
                                    const std::vector<LabClaim>& more) {
  for (const LabClaim& claim : more) {
    const auto known = std::find_if(claims.begin(), claims.end(), [&](const LabClaim& other) {
      return other.text == claim.text && other.relation == claim.relation;
    });
    if (known == claims.end()) {
      claims.push_back(claim);
    } else {
      known->runs.insert(claim.runs.begin(), claim.runs.end());
    }
  }
  return claims;
}

}  // namespace

LabRecord merged_records(const LabRecord& first, const LabRecord& second) {
  const Record options = json_of(first.options), others = json_of(second.options);
  if (first.name != second.name || options != others) {
    throw UsageError(fmt::format("lab: records of different runs: {} {} and {} {}", first.name,
                                 options.dump(), second.name, others.dump()));
  }
  const Pair names{first.precisions.at(0), second.precisions.at(0)};
  LabRecord result = first;
  result.precisions.push_back(names.second);
  result.seconds.insert(second.seconds.begin(), second.seconds.end());
  result.answer = joined(first.answer, names.second, second.answer);
  result.remarks = joined(first.remarks, names.second, second.remarks);
  result.claims = merged_claims(first.claims, second.claims);
  result.blocks = merged_blocks(first.blocks, second.blocks, names);
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
