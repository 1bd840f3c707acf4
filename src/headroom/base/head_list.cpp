// Lists of heads to and from texts.
#include "headroom/base/head_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::string heads_text(const std::vector<HeadId>& heads) {
  std::string text;
  for (const HeadId& head : heads) {
    if (!text.empty()) text += ',';
    text += head.text();
  }
  return text;
}

std::vector<HeadId> heads_from(const std::string& text, const std::string& origin) {
  std::vector<HeadId> heads;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    HeadId head;
    const char* at = word.data() + std::min(word.find(' ') + 1, word.size());
    const char* const last = word.data() + word.size();
    at = std::from_chars(at, last, head.layer).ptr;
    std::from_chars(std::min(at + 1, last), last, head.head);
    const auto kinds = all_of<AttentionKind>();
    const bool known = std::any_of(kinds.begin(), kinds.end(), [&](AttentionKind kind) {
      head.kind = kind;
      return head.text() == word;
    });
    if (!known) {
      throw UsageError(fmt::format(
          "{}: \"{}\" is not a head; heads are written as \"cross 1.3\" (kind, layer, head), "
          "separated by commas",
          origin, word));
    }
    if (std::find(heads.begin(), heads.end(), head) != heads.end()) {
      throw UsageError(fmt::format("{}: {} is listed twice", origin, word));
    }
    heads.push_back(head);
    begin = std::min(text.find_first_not_of(' ', end + 1), text.size());
  }
  return heads;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
