// The section of a model's card about removed heads.
#include "folders/model_card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr const char* section_title = "## Removed heads\n";

/// A card without the section.
std::string without_section(const std::string& card) {
  std::string others;
  bool inside = false;
  for (std::size_t begin = 0; begin < card.size();) {
    const std::size_t end = std::min(card.find('\n', begin), card.size() - 1) + 1;
    const std::string line = card.substr(begin, end - begin);
    if (line.starts_with("# ") || line.starts_with("## ")) inside = line == section_title;
    if (!inside) others += line;
    begin = end;
  }
  return others;
}

std::string section(FolderForm form, const std::vector<HeadId>& removed) {
  std::map<AttentionLocation, std::vector<Index>> heads;
  for (const HeadId& head : removed) heads[{head.kind, head.layer}].push_back(head.head);
  std::string text = fmt::format(
      "{}\nheadroom removed {} attention heads, numbered from 0 as in the full model:\n\n",
      section_title, removed.size());
  for (const auto& [location, list] : heads) {
    text += "* " + location.text() + ":";
    for (const Index head : list) text += fmt::format(" {}", head);
    text += "\n";
  }
  text += form == FolderForm::dense
              ? "\nThe matrices have the shapes of the full model. W_V, b_V and the part of W_O of "
                "these heads\nare 0, so that they stay removed when the model is trained on.\n"
              : "\nThe matrices have the other heads only, and `pruned_heads` of config.json lists "
                "these. Versions 4\nof Transformers open such a folder; version 5 cannot.\n";
  return text;
}

}  // namespace

std::string card_without(const std::string& before, const std::vector<HeadId>& removed,
                         FolderForm form) {
  std::string card = without_section(before);
  if (removed.empty()) return card;
  while (!card.empty() && !card.ends_with("\n\n")) card += '\n';
  return card + section(form, removed);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
