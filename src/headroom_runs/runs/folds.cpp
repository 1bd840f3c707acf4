// Division of a task's examples into parts.
#include "headroom_runs/runs/folds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The token sequences that must not be in two parts: of a pair both, of a labelled example its
/// own.
std::vector<const Tokens*> keys_of(const Seq2SeqExample& e) { return {&e.source, &e.target}; }
std::vector<const Tokens*> keys_of(const LabelledExample& e) { return {&e.tokens}; }

std::uint64_t hash_of(const Tokens& tokens) {
  return hash_name(
      {reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(tokens[0])});
}

/// Examples that share a key, directly or by way of others, as one group: a forest, in which roots
/// stand for groups.
class Groups {
 public:
  template <class Example>
  explicit Groups(const std::vector<Example>& examples) : parent_(examples.size()) {
    std::iota(parent_.begin(), parent_.end(), std::size_t(0));
    std::map<std::pair<std::size_t, Tokens>, std::size_t> first_with;
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const std::vector<const Tokens*> keys = keys_of(examples[i]);
      for (std::size_t k = 0; k < keys.size(); ++k) {
        const auto known = first_with.try_emplace({k, *keys[k]}, i).first;
        parent_[root(known->second)] = root(i);
      }
    }
  }

  std::size_t root(std::size_t example) {
    while (parent_[example] != example) {
      parent_[example] = parent_[parent_[example]];
      example = parent_[example];
    }
    return example;
  }

 private:
  std::vector<std::size_t> parent_;
};

/// The part of each example, from 0. Groups go to the smallest part so far, the largest group first
/// and those of one size by a hash of their contents.
template <class Example>
std::vector<Index> parts_of(const std::vector<Example>& examples, Index parts,
                            const std::string& task) {
  struct Group {
    Index size = 0;
    std::uint64_t hash = ~std::uint64_t(0);
    std::size_t root = 0;
  };
  Groups roots(examples);
  std::map<std::size_t, Group> by_root;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    Group& group = by_root[roots.root(i)];
    group.root = roots.root(i);
    ++group.size;
    group.hash = std::min(group.hash, hash_of(*keys_of(examples[i]).front()));
  }
  if (Index(by_root.size()) < parts) {
    throw UsageError(
        fmt::format("task {}: {} parts are too many: its examples for training and test are {} "
                    "groups that have neither a source nor an answer in common",
                    task, parts, by_root.size()));
  }
  std::vector<Group> groups;
  for (const auto& [root, group] : by_root) groups.push_back(group);
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return a.size != b.size ? a.size > b.size : a.hash < b.hash;
  });
  std::vector<Index> sizes(static_cast<std::size_t>(parts), 0);
  std::map<std::size_t, Index> part_of_root;
  for (const Group& group : groups) {
    const auto smallest = std::min_element(sizes.begin(), sizes.end());
    *smallest += group.size;
    part_of_root[group.root] = smallest - sizes.begin();
  }
  std::vector<Index> part_of;
  for (std::size_t i = 0; i < examples.size(); ++i) part_of.push_back(part_of_root[roots.root(i)]);
  return part_of;
}

/// The examples of one part, and all others.
template <class Example>
struct Divided {
  std::vector<Example> train, test;

  Divided(const std::vector<Example>& all, const Fold& fold, const std::string& task) {
    const std::vector<Index> part_of = parts_of(all, fold.parts, task);
    for (std::size_t i = 0; i < all.size(); ++i) {
      (part_of[i] == fold.part - 1 ? test : train).push_back(all[i]);
    }
  }
};

void divide(ClassificationTask& task, const Fold& fold) {
  std::vector<LabelledExample> all = task.train;
  all.insert(all.end(), task.test.begin(), task.test.end());
  Divided divided(all, fold, task.name);
  task.train = std::move(divided.train);
  task.test = std::move(divided.test);
}

void divide(Seq2SeqTask& task, const Fold& fold) {
  std::vector<Seq2SeqExample> all = task.train;
  for (const Seq2SeqQuestion& question : task.test) {
    for (const Tokens& answer : question.answers) all.push_back({question.source, answer});
  }
  Divided divided(all, fold, task.name);
  task.train = std::move(divided.train);
  task.test.clear();
  std::map<Tokens, std::size_t> questions;
  for (const auto& [source, answer] : divided.test) {
    const auto [known, is_new] = questions.try_emplace(source, task.test.size());
    if (is_new) task.test.push_back({source, {}});
    task.test[known->second].answers.push_back(answer);
  }
}

void divide(const TextCorpus& corpus, const Fold&) {
  throw UsageError(
      fmt::format("task {}: it is one text without a test set, which has no folds", corpus.name),
      {"fold"});
}

}  // namespace

std::string Fold::text() const { return fmt::format("{}/{}", part, parts); }

Fold fold_from(const std::string& text, const std::string& where) {
  Fold fold{0, 0};
  const char* end = text.data() + text.size();
  const auto part = std::from_chars(text.data(), end, fold.part);
  if (part.ptr != end && *part.ptr == '/') {
    const auto parts = std::from_chars(part.ptr + 1, end, fold.parts);
    if (parts.ptr == end && parts.ec == std::errc() && fold.parts >= 2 && fold.part >= 1 &&
        fold.part <= fold.parts) {
      return fold;
    }
  }
  throw UsageError(
      fmt::format("{} {} must be K/N with 1 <= K <= N and N at least 2, such as 2/5", where, text));
}

Task hold_out(Task task, const Fold& fold) {
  if (fold.parts > 1) std::visit([&](auto& t) { divide(t, fold); }, task);
  return task;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
