// What every tokenizer of a file must do with every text.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "fuzz/fuzz.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom_foreign/tokenizers/open_tokenizer.hpp"

/// Opens the tokenizer of a folder and encodes a text: null if the folder is refused.
inline std::unique_ptr<headroom::ForeignTokenizer> opened_for(const std::filesystem::path& folder,
                                                              const std::string& text) {
  std::unique_ptr<headroom::ForeignTokenizer> tokenizer;
  if (!reads([&] { tokenizer = headroom::open_tokenizer(folder); })) return nullptr;
  headroom::Tokens ids, with_specials;
  const bool encoded = reads([&] { ids = tokenizer->encode(text); });
  must(encoded == !headroom::find_malformed_utf8(text));
  if (!encoded) return tokenizer;
  must(tokenizer->encode(text) == ids);  // now from the cache
  with_specials = tokenizer->encode_with_specials(text);
  for (const auto& some : {ids, with_specials, tokenizer->framed(ids)}) {
    for (const std::int32_t id : some) must(!tokenizer->token(id).empty());
    must(!headroom::find_malformed_utf8(tokenizer->decode(some)));
  }
  return tokenizer;
}
