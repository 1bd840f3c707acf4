// Attention maps in text: which are shown, removed heads, and what cannot be selected.
#include <sstream>

#include "headroom/base/error.hpp"
#include "headroom_lab/report/attend.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// Two layers of two cross-attention heads, one of them removed, and one encoder head.
AttentionRecord small_record() {
  AttentionRecord record{
      .input = "a\nb",
      .example = {.source = {"a", "\n", "b"}, .target = {"x", "$"}, .decoder_input = {"^", "x"}},
      .answer = {.text = "xy", .probability = 0.25, .finished = true}};
  const auto encoder = AttentionKind::encoder_self, cross = AttentionKind::cross;
  const auto add = [&](AttentionKind kind, Index layer, Index head, bool removed,
                       std::vector<std::vector<double>> rows) {
    record.heads.push_back({{kind, layer, head}, removed});
    if (!removed) record.example.maps.push_back({{kind, layer, head}, std::move(rows)});
  };
  add(encoder, 0, 0, false, {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}});
  add(cross, 0, 0, false, {{0.7, 0.2, 0.1}, {0.0, 0.0, 1.0}});
  add(cross, 0, 1, true, {});
  add(cross, 1, 0, false, {{0.0, 1.0, 0.0}, {0.4, 0.4, 0.2}});
  add(cross, 1, 1, false, {{0.0, 0.0, 1.0}, {0.0, 0.0, 1.0}});
  return record;
}

TerminalStyle unstyled() {
  TerminalStyle style;
  style.unicode = false;
  return style;
}

}  // namespace

TEST_CASE("all maps are in lines of a layer's heads, removed ones by name only") {
  const std::string text = attend_text(small_record(), {}, unstyled());
  CHECK_THAT(text, Contains("  input   a\\nb\n  output  xy   (probability 0.25)\n"
                            "  weights # from 0.6, + from 0.3, - from 0.1, . less\n"));
  CHECK_THAT(text, Contains("  layer 0\n"
                            "  head 0             head 1 (removed)\n"
                            "     a \\n b\n"
                            "  x  # -- -\n"
                            "  $  . .. #\n"));
  CHECK_THAT(text, Contains("encoder self-attention") && !Contains("decoder self-attention"));
}

TEST_CASE("an answer may be tokens of masked places, or a note") {
  AttentionRecord record = small_record();
  record.model.family = ModelKind::masked_language_model;
  record.answer = {.text = "x y", .classes = {{"1: x", 0.5}, {"2: y", 0.25}}};
  CHECK_THAT(attend_text(record, {}, unstyled()),
             Contains("  output  x y   (1: x 0.5, 2: y 0.25)\n"));
  record.answer = {.note = "none: this model has no output"};
  CHECK_THAT(attend_text(record, {}, unstyled()),
             Contains("  output  none: this model has no output\n"));
}

TEST_CASE("no token can steer the terminal, and none breaks a line") {
  AttentionRecord record = small_record();
  record.input = "a\x1b[2J\r\tb";
  record.answer.text = "\x1b]0;x\x07";
  record.example.source = {"a\x1b[2J", "\r", "\t"};
  record.example.target = {
      "\xc2\x9b"
      "2J",
      "\n"};
  const std::string text = attend_text(record, {}, unstyled());
  CHECK_THAT(text, Contains("  input   a\\x1B[2J\\x0D\\tb\n  output  \\x1B]0;x\\x07   "));
  CHECK_THAT(text, Contains("     a\\x1B[2J \\x0D \\t\n") && Contains("\\xC2\\x9B2J"));
  for (const char c : text) CHECK((c == '\n' || (c >= ' ' && c != '\x7F')));
}

TEST_CASE("a map wider than the terminal continues below, under its own tokens") {
  AttentionRecord record = small_record();
  record.example.source.clear();
  for (int i = 0; i < 100; ++i) {
    record.example.source.push_back(std::string(1, static_cast<char>('a' + i % 26)));
  }
  for (MapRecord& map : record.example.maps) {
    for (std::vector<double>& row : map.rows) row.assign(100, 0.01);
  }
  std::istringstream lines(
      attend_text(record, {.kind = AttentionKind::cross, .layer = 1}, unstyled()));
  std::size_t headers = 0;
  for (std::string line; std::getline(lines, line);) {
    CHECK(line.size() <= (line.find("cross-attention") == std::string::npos ? 80 : 100));
    headers += line.find("abcdefghijklmnopqrstuvwxyzabc") != std::string::npos;
  }
  CHECK(headers == 2);  // two heads; their second parts begin with other keys
}

TEST_CASE("kind, layer and head choose what is shown") {
  const std::string one = attend_text(
      small_record(), {.kind = AttentionKind::cross, .layer = 1, .head = 0}, unstyled());
  CHECK_THAT(one, Contains("  x  . ## .\n  $  + ++ -\n") && !Contains("head 1") &&
                      !Contains("layer 0") && !Contains("encoder"));
  TerminalStyle narrow = unstyled();
  narrow.columns = 30;
  const std::string below =
      attend_text(small_record(), {.kind = AttentionKind::cross, .layer = 1}, narrow);
  CHECK(below.find("head 1") > below.find("$  +"));  // two do not fit side by side
}

TEST_CASE("what the model does not have cannot be selected") {
  const AttentionRecord record = small_record();
  CHECK_THROWS_WITH(check_selection(record, {.kind = AttentionKind::decoder_self}),
                    "kind decoder: this seq2seq has only cross, encoder");
  CHECK_THROWS_WITH(check_selection(record, {.layer = 2}), "layer 2: there are layers 0 to 1");
  CHECK_THROWS_WITH(check_selection(record, {.kind = AttentionKind::encoder_self, .layer = 1}),
                    "layer 1: there are layers 0 to 0");
  CHECK_THROWS_WITH(check_selection(record, {.kind = AttentionKind::cross, .layer = 0, .head = 7}),
                    "head 7: there are heads 0 to 1");
  CHECK_THROWS_AS(check_selection(record, {.kind = AttentionKind::decoder_self}), UsageError);
}
