// The special tokens around a text, as post-processors of tokenizer.json describe them.
#include <fmt/format.h>

#include "headroom/base/utf8.hpp"
#include "tokenizers/tokenizer_files.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

// Checks a token with its id, which the file repeats.
std::int32_t checked_id(const JsonPart& place, const std::string& token, Index id,
                        const TokenTable& table) {
  const auto found = table.find(token);
  if (!found || *found != id) {
    place.refuse(
        fmt::format("token \"{}\" has not the id {} in the vocabulary", printable(token), id));
  }
  return *found;
}

// ["[CLS]", 101]
std::int32_t id_of_pair(const JsonPart& pair, const TokenTable& table) {
  const auto elements = pair.elements();
  if (elements.size() != 2) pair.refuse("must be a token and its id");
  return checked_id(pair, elements[0].text(), elements[1].integer(), table);
}

// {"id": "[CLS]", "ids": [101], "tokens": ["[CLS]"]}
Tokens ids_of_special(const JsonPart& special, const TokenTable& table) {
  const auto ids = special["ids"].elements(), tokens = special["tokens"].elements();
  if (ids.empty() || ids.size() != tokens.size()) special.refuse("must have a token for each id");
  Tokens result;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    result.push_back(checked_id(special, tokens[i].text(), ids[i].integer(), table));
  }
  return result;
}

// A list of special tokens and, once, the text: {"Sequence": {"id": "A"}}.
Frame frame_of_template(const JsonPart& post_processor, const TokenTable& table) {
  Frame frame;
  bool after_text = false;
  for (const JsonPart& element : post_processor["single"].elements()) {
    if (!element["Sequence"].is_null()) {
      if (after_text || element["Sequence"]["id"].text() != "A") {
        element.refuse("headroom computes templates with one text, A");
      }
      after_text = true;
      continue;
    }
    const std::string name = element["SpecialToken"]["id"].text();
    const Tokens ids = ids_of_special(post_processor["special_tokens"][name], table);
    Tokens& side = after_text ? frame.after : frame.before;
    side.insert(side.end(), ids.begin(), ids.end());
  }
  if (!after_text) post_processor["single"].refuse("the template has no text A");
  return frame;
}

}  // namespace

Frame frame_of_json(const JsonPart& post_processor, const TokenTable& table) {
  if (post_processor.is_null()) return {};
  const std::string type = post_processor["type"].text();
  if (type == "ByteLevel") return {};  // it moves offsets, which headroom does not have
  if (type == "TemplateProcessing") return frame_of_template(post_processor, table);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    return {{id_of_pair(post_processor["cls"], table)}, {id_of_pair(post_processor["sep"], table)}};
  }
  if (type == "Sequence") {
    Frame frame;
    for (const JsonPart& processor : post_processor["processors"].elements()) {
      const Frame outer = frame_of_json(processor, table);
      frame.before.insert(frame.before.begin(), outer.before.begin(), outer.before.end());
      frame.after.insert(frame.after.end(), outer.after.begin(), outer.after.end());
    }
    return frame;
  }
  post_processor.refuse(
      fmt::format("headroom does not compute the post-processor {}", printable(type)));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
