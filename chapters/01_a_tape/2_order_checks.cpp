// Checks backward_order: each node once, each one after all that read it, and no node visited again
// and again.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/checks.hpp"
#include "value.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using scalar::Node;
using scalar::Value;
using Nodes = std::vector<Node*>;
using Labels = std::map<const Node*, std::string>;

Value operation(const std::vector<Value>& inputs) {
  return record(0, inputs, [](Real, const scalar::Gradients&) {});
}

/// Everything that the root was computed from, the youngest first.
Nodes below(Node* root) {
  Nodes nodes{root};
  std::set<Node*> seen{root};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const auto& input : nodes[i]->inputs) {
      if (seen.insert(input.get()).second) nodes.push_back(input.get());
    }
  }
  std::sort(nodes.begin(), nodes.end(), [](Node* a, Node* b) { return a->number > b->number; });
  return nodes;
}

void enter(Node* node, std::set<Node*>& seen, Nodes& order) {
  if (!seen.insert(node).second) return;
  order.push_back(node);
  for (const auto& input : node->inputs) enter(input.get(), seen, order);
}

void leave(Node* node, std::set<Node*>& seen, Nodes& order) {
  if (!seen.insert(node).second) return;
  for (const auto& input : node->inputs) leave(input.get(), seen, order);
  order.push_back(node);
}

Nodes breadth_first(Node* root) {
  Nodes order{root};
  std::set<Node*> seen{root};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const auto& input : order[i]->inputs) {
      if (seen.insert(input.get()).second) order.push_back(input.get());
    }
  }
  return order;
}

/// The first node that comes before one that reads it, and that one; or two times nullptr.
std::pair<Node*, Node*> too_early(const Nodes& order) {
  std::map<const Node*, std::size_t> position;
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  for (Node* node : order) {
    for (const auto& input : node->inputs) {
      const auto found = position.find(input.get());
      if (found != position.end() && found->second < position[node]) return {input.get(), node};
    }
  }
  return {nullptr, nullptr};
}

std::string about_order(const Nodes& order, Node* root) {
  const bool reversed = too_early(Nodes(order.rbegin(), order.rend())).first == nullptr;
  if (reversed) return "\nIt looks as if the order is right, but backwards.";
  std::set<Node*> seen;
  Nodes entered;
  enter(root, seen, entered);
  if (order == entered) {
    return "\nIt looks as if nodes are in the order in which a depth-first search enters them.";
  }
  if (order == breadth_first(root)) {
    return "\nIt looks as if nodes are in the order of a breadth-first search.";
  }
  return "";
}

/// Fails unless the answer's order of the nodes below the root is one of the right ones.
void require_order(const Value& root, const Labels& labels) {
  const Nodes expected = below(root.node().get());
  const Nodes order = scalar::backward_order(root.node().get());
  const auto label = [&](const Node* node) {
    const auto found = labels.find(node);
    return found != labels.end() ? found->second : fmt::format("with number {}", node->number);
  };
  std::string listed;
  if (order.size() <= 8 && !labels.empty()) {
    for (const Node* node : order) listed += (listed.empty() ? "" : ", ") + label(node);
    listed = fmt::format(" Your order: {}.", listed);
  }
  for (const Node* node : order) {
    chapter::require(std::find(expected.begin(), expected.end(), node) != expected.end(),
                     "a node is in the order from which the root was not computed." + listed);
    const auto times = std::count(order.begin(), order.end(), node);
    chapter::require(
        times == 1, fmt::format("the node {} is there {} times: its gradient would be passed on {} "
                                "times.{}",
                                label(node), times, times, listed));
  }
  Nodes missing;
  for (Node* node : expected) {
    if (std::find(order.begin(), order.end(), node) == order.end()) missing.push_back(node);
  }
  if (missing.size() > 1 && std::any_of(missing.begin(), missing.end(),
                                        [](const Node* node) { return !node->inputs.empty(); })) {
    FAIL(missing.size() << " of " << expected.size() << " nodes are missing." << listed);
  }
  for (const Node* node : missing) {
    chapter::require(node != root.node().get(), "the root is missing." + listed);
    chapter::require(!node->inputs.empty(),
                     fmt::format("the leaf {} is missing.{}", label(node), listed));
    FAIL("the node " << label(node) << " is missing." << listed);
  }
  const auto [early, reader] = too_early(order);
  if (early == nullptr) {
    SUCCEED();
    return;
  }
  FAIL("the node " << label(early) << " comes before " << label(reader)
                   << ", which reads it: its gradient would not be complete yet." << listed
                   << about_order(order, root.node().get()));
}

/// c = a + b; d = c * c; e = d + c
struct Example {
  Value a{1}, b{1}, c = operation({a, b}), d = operation({c, c}), e = operation({d, c});
  Labels labels() const {
    return {{a.node().get(), "a"},
            {b.node().get(), "b"},
            {c.node().get(), "c"},
            {d.node().get(), "d"},
            {e.node().get(), "e"}};
  }
};

/// The size of this process's address space in bytes.
rlim_t used_memory() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * rlim_t(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("c = a + b; d = c * c; e = d + c", "[01/2]") {
  const Example example;
  require_order(example.e, example.labels());
}

TEST_CASE("the same with e = c + d", "[01/2]") {
  Example example;
  example.e = operation({example.c, example.d});
  require_order(example.e, example.labels());
}

TEST_CASE("not only from the last node", "[01/2]") {
  const Example example;
  require_order(example.d, example.labels());
  require_order(example.a, example.labels());
}

TEST_CASE("random programs of 60 operations", "[01/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "01/2");
    std::vector<Value> values{Value(1), Value(2), Value(3)};
    for (int i = 0; i < 60; ++i) {
      const auto any = [&] { return values[std::size_t(rng.below(Index(values.size())))]; };
      const Value first = rng.uniform() < Real(0.5) ? values.back() : any();
      values.push_back(operation(rng.uniform() < Real(0.3) ? std::vector<Value>{first}
                                                           : std::vector<Value>{any(), first}));
    }
    require_order(values.back(), {});
  }
}

TEST_CASE("60 doublings in a row: b = a + a, c = b + b, ...", "[01/2]") {
  Value value(1);
  for (int i = 0; i < 60; ++i) value = operation({value, value});
  // In a process of its own, which can be stopped.
  const pid_t child = fork();
  if (child == 0) {
    const rlimit one_second{1, 1};
    setrlimit(RLIMIT_CPU, &one_second);
    const rlimit memory{used_memory() + (rlim_t(1) << 30), RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &memory);
    try {
      _exit(scalar::backward_order(value.node().get()).empty() ? 1 : 0);
    } catch (...) {
      _exit(2);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  chapter::require(
      status == 0,
      "these 61 nodes took more than a second, or more than a gigabyte. There are 2^60 "
      "paths from the root to a: a search must stop at nodes that it has seen.");
  require_order(value, {});
}
