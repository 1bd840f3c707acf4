// The section of a model's card about removed heads.
#include "folders/model_card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// How the section begins, to the number of heads, and its last paragraph.
constexpr const char *section_begin = "## Removed heads\n\nheadroom removed ",
                     *last_paragraph = "\nThe matrices have ";

/// A card without the section; what stands before and after it stays.
std::string without_section(const std::string& card) {
  const std::size_t begin = card.find(section_begin);
  const std::size_t last = card.find(last_paragraph, std::min(begin, card.size()));
  if (begin == card.npos || last == card.npos) return card;
  const std::size_t end = std::min(card.find("\n\n", last + 1), card.size() - 2) + 2;
  return card.substr(0, begin) + card.substr(end);
}

std::string section(FolderForm form, const std::vector<HeadId>& removed) {
  std::map<AttentionLocation, std::vector<Index>> heads;
  for (const HeadId& head : removed) heads[{head.kind, head.layer}].push_back(head.head);
  std::string text = fmt::format("{}{} attention heads, numbered from 0 as in the full model:\n\n",
                                 section_begin, removed.size());
  for (const auto& [location, list] : heads) {
    text += "* " + location.text() + ":";
    for (const Index head : list) text += fmt::format(" {}", head);
    text += "\n";
  }
  text += last_paragraph;
  text += form == FolderForm::dense
              ? "the shapes of the full model. W_V, b_V and the part of W_O of "
                "these heads\nare 0, so that they stay removed when the model is trained on.\n"
              : "the other heads only, and `pruned_heads` of config.json lists "
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
