// Registry of layouts by name: those of headroom and those that a program adds.
#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/registry.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/separate_heads.hpp"
#include "headroom/nn/shared_head.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct RegisteredLayout {
  std::string name, summary;
  AttentionFactory make;
};

template <class Heads>
std::unique_ptr<Attention> make_heads_of(const AttentionConfig& config, Rng& rng) {
  return std::make_unique<Heads>(config, rng);
}

template <class Heads>
RegisteredLayout own_layout(Layout layout, const char* summary) {
  return {name_of<Layout>(layout), summary, make_heads_of<Heads>};
}

/// Indexed by the number of the layout.
Registry<RegisteredLayout>& registry() {
  static Registry<RegisteredLayout> all(
      "layout", {own_layout<SeparateHeads>(Layout::separate, "one Linear per head"),
                 own_layout<FusedHeads>(Layout::fused, "one Linear for all heads"),
                 own_layout<SharedHead>(Layout::shared, "one small Linear, used by every head")});
  return all;
}

const RegisteredLayout* find_layout(Layout layout) {
  const auto number = static_cast<std::size_t>(layout);
  return number < registry().all().size() ? &registry().all()[number] : nullptr;
}

}  // namespace

const char* name_of(Layout layout) {
  const RegisteredLayout* const found = find_layout(layout);
  return found == nullptr ? "?" : found->name.c_str();
}

std::vector<LayoutInfo> layout_list() {
  std::vector<LayoutInfo> list;
  for (const RegisteredLayout& entry : registry().all()) {
    list.push_back({static_cast<Layout>(list.size()), entry.name, entry.summary});
  }
  return list;
}

std::string layout_names() { return registry().list(); }

Layout layout_from(const std::string& name, const std::string& origin) {
  registry().at(name, origin);
  const std::vector<std::string> names = registry().names();
  return static_cast<Layout>(std::find(names.begin(), names.end(), name) - names.begin());
}

Layout add_layout(std::string name, std::string summary, AttentionFactory make) {
  registry().add({std::move(name), std::move(summary), std::move(make)});
  return static_cast<Layout>(registry().all().size() - 1);
}

std::unique_ptr<Attention> make_attention(Layout layout, const AttentionConfig& config, Rng& rng) {
  const RegisteredLayout* const found = find_layout(layout);
  if (found == nullptr) {
    throw UsageError(fmt::format("make_attention: there is no layout number {}; they are {}",
                                 int(layout), layout_names()));
  }
  return found->make(config, rng);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
