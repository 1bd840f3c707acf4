// Registry of layouts by name: those of headroom and those that a program adds.
#include <fmt/format.h>

#include <deque>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/nearest.hpp"
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

/// Indexed by the number of the layout. Entries never move, so that pointers to names stay valid.
std::deque<RegisteredLayout>& registered_layouts() {
  static std::deque<RegisteredLayout> list{
      own_layout<SeparateHeads>(Layout::separate, "one Linear per head"),
      own_layout<FusedHeads>(Layout::fused, "one Linear for all heads"),
      own_layout<SharedHead>(Layout::shared, "one small Linear, used by every head")};
  return list;
}

const RegisteredLayout* find_layout(Layout layout) {
  const auto number = static_cast<std::size_t>(layout);
  return number < registered_layouts().size() ? &registered_layouts()[number] : nullptr;
}

}  // namespace

const char* name_of(Layout layout) {
  const RegisteredLayout* const found = find_layout(layout);
  return found == nullptr ? "?" : found->name.c_str();
}

std::vector<LayoutInfo> layout_list() {
  std::vector<LayoutInfo> list;
  for (const RegisteredLayout& entry : registered_layouts()) {
    list.push_back({static_cast<Layout>(list.size()), entry.name, entry.summary});
  }
  return list;
}

std::string layout_names() {
  std::string names;
  for (const LayoutInfo& info : layout_list()) names += (names.empty() ? "" : ", ") + info.name;
  return names;
}

Layout layout_from(const std::string& name, const std::string& origin) {
  std::vector<std::string> names;
  for (const LayoutInfo& info : layout_list()) {
    if (info.name == name) return info.layout;
    names.push_back(info.name);
  }
  throw UsageError(fmt::format("{}: \"{}\" is not one of {}{}", origin, name, layout_names(),
                               did_you_mean(name, names)));
}

Layout add_layout(std::string name, std::string summary, AttentionFactory make) {
  if (name.empty()) throw UsageError("add_layout: a layout needs a name");
  if (!make) throw UsageError(fmt::format("add_layout: {} has no factory", name));
  for (const LayoutInfo& info : layout_list()) {
    if (info.name == name) throw UsageError(fmt::format("add_layout: {} exists already", name));
  }
  registered_layouts().push_back({std::move(name), std::move(summary), std::move(make)});
  return static_cast<Layout>(registered_layouts().size() - 1);
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
