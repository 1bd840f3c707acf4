// Bytes as text: the examples of RFC 4648, section 10, and the letters of its table.
#include "headroom/io/base64.hpp"
#include "support/catch.hpp"

#include <string_view>
#include <vector>

using namespace headroom;

namespace {
std::string of_text(std::string_view text) {
  return base64(std::as_bytes(std::span(text.data(), text.size())));
}
}  // namespace

TEST_CASE("base64 as the standard's examples have it") {
  CHECK(of_text("") == "");
  CHECK(of_text("f") == "Zg==");
  CHECK(of_text("fo") == "Zm8=");
  CHECK(of_text("foo") == "Zm9v");
  CHECK(of_text("foob") == "Zm9vYg==");
  CHECK(of_text("fooba") == "Zm9vYmE=");
  CHECK(of_text("foobar") == "Zm9vYmFy");
}

TEST_CASE("base64 uses its 64 letters in their order") {
  std::vector<std::byte> bytes;  // 0, 1, 2, ... 63 in six bits each
  for (unsigned first = 0; first < 64; first += 4) {
    const unsigned group = first << 18 | (first + 1) << 12 | (first + 2) << 6 | (first + 3);
    for (const unsigned shift : {16u, 8u, 0u}) {
      bytes.push_back(static_cast<std::byte>(group >> shift & 0xFF));
    }
  }
  CHECK(base64(bytes) == "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
}
