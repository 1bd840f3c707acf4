// Reading an experiment's record in tests: its claims and blocks by a part of their text.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "headroom/base/at.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/surgery/layout_conversion.hpp"
#include "headroom_lab/lab/lab.hpp"
#include "support/catch.hpp"
#include "support/sanitized.hpp"

namespace lab_test {

using namespace headroom;

inline const char* const precision = is_double ? "double" : "float";

/// The record of a run in JSON.
inline Record run(const std::string& name, Index width, Index heads, std::uint64_t seed = 1) {
  const LabOptions options{.width = width, .heads = heads, .seed = seed};
  return json_of(run_experiment(find_experiment(name), options));
}

/// A cell, title or answer of a record in JSON, formatted.
inline std::string in_words(const Record& value) { return words(struct_of<Value>(value, "value")); }

/// The claims of a record in JSON that do not hold.
inline std::vector<std::string> failed_claims_of(const Record& record) {
  return failed_claims(struct_of<LabRecord>(record, "record"));
}

/// Checks that every claim holds for several seeds and sizes (under sanitizers for the last of
/// them), that there is an answer, and a minimum number of claims.
inline void check_holds(const std::string& name, const std::vector<LabOptions>& runs,
                        std::size_t claims) {
  for (const LabOptions& options : sanitized ? std::vector{runs.back()} : runs) {
    INFO(name << " width " << options.width << " heads " << options.heads << " seed "
              << options.seed);
    const LabRecord record = run_experiment(find_experiment(name), options);
    for (const std::string& failed : failed_claims(record)) FAIL_CHECK(failed);
    CHECK(record.claims.size() >= claims);
    CHECK(words(record.answer).size() > 80);
  }
}

/// The number of the claim whose text contains `words`.
inline double measured(const Record& record, const std::string& words) {
  for (const Record& claim : record["claims"]) {
    if (claim["text"].get<std::string>().find(words) == std::string::npos) continue;
    return claim[precision]["measured"];
  }
  FAIL("no claim has \"" << words << "\"");
  return 0;
}

/// The seed of one of an experiment's draws.
inline std::uint64_t seed_of_draw(std::uint64_t seed, std::uint64_t draw) {
  Rng rng(seed, "draw", draw);
  const std::uint64_t high = rng.word();
  return (high << 32) + rng.word();
}

/// |a - b| / |b|
inline double off(double a, double b) { return std::abs(a - b) / std::abs(b); }

/// The first block that has a column, a map or a line of this name.
inline const Record& block_with(const Record& record, const std::string& name) {
  for (const Record& block : record["blocks"]) {
    for (const char* list : {"columns", "maps", "steps", "series"}) {
      if (!block.contains(list)) continue;
      for (const Record& entry : block[list]) {
        if ((entry.is_string() ? entry : entry["name"]) == name) return block;
      }
    }
  }
  FAIL("no block has \"" << name << "\"");
  return record["blocks"][0];
}

/// y = softmax(q k^T scale) v in plain loops, in double, for one head: rows of D numbers.
using Matrix = std::vector<std::vector<double>>;

inline Matrix plain_attention(const Matrix& q, const Matrix& k, const Matrix& v, double scale) {
  Matrix y(q.size(), std::vector<double>(v[0].size(), 0));
  for (std::size_t i = 0; i < q.size(); ++i) {
    std::vector<double> weight;
    double sum = 0;
    for (const auto& key : k) {
      double score = 0;
      for (std::size_t c = 0; c < key.size(); ++c) score += q[i][c] * key[c];
      weight.push_back(std::exp(score * scale));
      sum += weight.back();
    }
    for (std::size_t j = 0; j < k.size(); ++j) {
      for (std::size_t c = 0; c < v[0].size(); ++c) y[i][c] += weight[j] / sum * v[j][c];
    }
  }
  return y;
}

/// x W^T + b for the given rows of W [out, in], for one example of x [B, T, C].
inline Matrix plain_linear(const Array& x, Index example, const Array& weight, const Array& bias,
                           Index begin, Index end) {
  const Index tokens = x.dim(1), width = x.dim(2);
  Matrix y;
  for (Index t = 0; t < tokens; ++t) {
    y.emplace_back();
    for (Index o = begin; o < end; ++o) {
      double sum = bias.defined() ? double(bias[o]) : 0;
      for (Index c = 0; c < width; ++c) {
        sum += double(x[(example * tokens + t) * width + c]) * double(weight[o * width + c]);
      }
      y.back().push_back(sum);
    }
  }
  return y;
}

}  // namespace lab_test
