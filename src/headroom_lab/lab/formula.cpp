// Formulas: parsing, text and MathML.
#include "headroom_lab/lab/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "headroom/base/error.hpp"
#include "headroom/base/text.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Signs of the language and their characters in MathML, longest first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> signs = {{
    {"(x)", "⊗"},
    {"<=", "≤"},
    {">=", "≥"},
    {"!=", "≠"},
    {"<-", "←"},
    {"->", "→"},
    {"-", "−"},
    {"*", "⊙"},
    {".", "·"},
    {"'", "′"},
    {"<", "⟨"},
    {">", "⟩"},
    {"~", "∼"},
}};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_capital(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

/// Returns true for a product of one-letter names: dW, QKV, dQKV, hD, dx.
bool is_product(const std::string& name) {
  const bool differential = name.front() == 'd' && name.size() > 1;
  return std::all_of(name.begin() + (differential ? 1 : 0), name.end(), is_capital) ||
         (name.size() == 2 && (differential || is_capital(name.back())));
}

std::string element(std::string_view tag, std::string_view content) {
  return fmt::format("<{0}>{1}</{0}>", tag, content);
}

std::string name_mathml(const std::string& name) {
  if (name == "sum") return "<mo>∑</mo>";
  if (name.size() == 1 || !is_product(name)) return element("mi", name);
  std::string letters;
  for (const char c : name) letters += element("mi", std::string(1, c));
  return element("mrow", letters);
}

/// 1e-6 is a power of ten.
std::string number_mathml(const std::string& number) {
  if (!number.starts_with("1e")) return element("mn", number);
  const bool negative = number[2] == '-';
  return fmt::format("<msup><mn>10</mn><mrow>{}<mn>{}</mn></mrow></msup>",
                     negative ? "<mo>−</mo>" : "", number.substr(negative ? 3 : 2));
}

std::string sign_mathml(const std::string& sign) {
  for (const auto& [written, character] : signs) {
    if (sign == written) return element("mo", character);
  }
  const std::string fence =
      std::string_view("()[]|/").find(sign) == std::string::npos ? "" : " stretchy=\"false\"";
  return fmt::format("<mo{}>{}</mo>", fence, escaped_markup(sign));
}

}  // namespace

class Formula::Parser {
 public:
  explicit Parser(std::string_view source) : source_(source) {}

  std::vector<Node> all() {
    std::vector<Node> nodes = until('\0');
    if (at_ < source_.size()) refuse("a brace that closes nothing");
    return nodes;
  }

 private:
  static constexpr int most_nested = 16;

  char here() const { return at_ < source_.size() ? source_[at_] : '\0'; }
  char next() const { return at_ + 1 < source_.size() ? source_[at_ + 1] : '\0'; }

  bool letter_at(std::size_t ahead) const {
    return at_ + ahead < source_.size() && is_letter(source_[at_ + ahead]);
  }

  [[noreturn]] void refuse(const char* why) const {
    throw UsageError(fmt::format("the formula \"{}\": {} at character {}", source_, why, at_ + 1));
  }

  /// The nodes up to a closing character, which stays.
  std::vector<Node> until(char end) {
    if (++nested_ > most_nested) refuse("too many nested groups");
    std::vector<Node> nodes;
    while (at_ < source_.size() && here() != end && here() != '}') nodes.push_back(item());
    --nested_;
    return nodes;
  }

  /// An atom with its scripts, or a fraction.
  Node item() {
    if (here() == '_' || here() == '^') refuse("a script without a base");
    Node base = atom();
    if (base.kind == Kind::group && here() == '/' && next() == '{') {
      ++at_;
      Node below = atom();
      return {Kind::fraction, {}, {std::move(base), std::move(below)}};
    }
    Node below{Kind::group, {}, {}}, above{Kind::group, {}, {}};
    while (here() == '_' || here() == '^') {
      Node& script = here() == '_' ? below : above;
      if (!script.parts.empty()) refuse("two scripts at one place");
      ++at_;
      script.parts.push_back(script_atom());
    }
    if (below.parts.empty() && above.parts.empty()) return base;
    return {Kind::scripts, {}, {std::move(base), std::move(below), std::move(above)}};
  }

  Node script_atom() {
    const bool begins = here() == '{' || is_letter(here()) || is_digit(here()) || here() == '-';
    if (!begins) refuse("a script without content");
    Node content = atom();
    if (content.kind == Kind::group && content.parts.empty()) refuse("a script without content");
    return content;
  }

  Node atom() {
    const char c = here();
    if (c == ' ') return taken(Kind::space, [](char other) { return other == ' '; });
    if (is_letter(c)) return name();
    if (is_digit(c)) return number();
    if (c == '"') return words();
    if (c == '{') return group();
    return sign();
  }

  Node taken(Kind kind, bool (*belongs)(char)) {
    const std::size_t begin = at_;
    while (at_ < source_.size() && belongs(source_[at_])) ++at_;
    return {kind, std::string(source_.substr(begin, at_ - begin)), {}};
  }

  Node name() {
    Node name = taken(Kind::name, is_letter);
    // A name of a program, in_proj_weight, is one name; W_Q and dW_Q have a subscript.
    while (name.written.size() > 1 && here() == '_' && is_letter(next()) && letter_at(2)) {
      ++at_;
      name.written += "_" + taken(Kind::name, is_letter).written;
    }
    if (name.written != "sqrt" || here() != '(') return name;
    ++at_;
    std::vector<Node> content;
    for (int open = 1; open > 0;) {
      if (at_ == source_.size() || here() == '}') refuse("a root without its closing parenthesis");
      open += here() == '(' ? 1 : here() == ')' ? -1 : 0;
      if (open == 0) break;
      if (++nested_ > most_nested) refuse("too many nested groups");
      content.push_back(item());
      --nested_;
    }
    ++at_;
    return {Kind::root, {}, std::move(content)};
  }

  Node number() {
    Node number = taken(Kind::number, is_digit);
    const auto more = [&](std::size_t signs) {
      number.written += source_.substr(at_, signs);
      at_ += signs;
      number.written += taken(Kind::number, is_digit).written;
    };
    if (here() == '.' && is_digit(next())) more(1);
    if (here() != 'e') return number;
    const bool negative = next() == '-';
    const std::size_t first = at_ + (negative ? 2 : 1);
    if (first < source_.size() && is_digit(source_[first])) more(negative ? 2 : 1);
    return number;
  }

  Node words() {
    const std::size_t end = source_.find('"', at_ + 1);
    if (end == std::string_view::npos) refuse("a quote that does not close");
    Node words{Kind::words, std::string(source_.substr(at_ + 1, end - at_ - 1)), {}};
    at_ = end + 1;
    return words;
  }

  Node group() {
    ++at_;
    Node group{Kind::group, {}, until('}')};
    if (here() != '}') refuse("a brace that does not close");
    ++at_;
    return group;
  }

  /// One of the signs, or any other character.
  Node sign() {
    std::size_t length = 1;
    for (const auto& [written, character] : signs) {
      if (!source_.substr(at_).starts_with(written)) continue;
      length = written.size();
      break;
    }
    while (length > 0 && at_ + length < source_.size() &&
           (static_cast<unsigned char>(source_[at_ + length]) & 0xC0) == 0x80) {
      ++length;  // the rest of a UTF-8 character
    }
    Node sign{Kind::sign, std::string(source_.substr(at_, length)), {}};
    at_ += length;
    return sign;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int nested_ = 0;
};

Formula::Formula(std::string_view source) : nodes_(Parser(source).all()) {}

// ---------------------------------------------------------------- text

std::string Formula::text() const { return text_of(nodes_); }

std::string Formula::text_of(const std::vector<Node>& nodes) {
  std::string text;
  for (const Node& node : nodes) text += text_of(node);
  return text;
}

/// In parentheses unless it is one term without spaces.
std::string Formula::tight_text_of(const Node& group) {
  const std::string text = text_of(group.parts);
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

std::string Formula::text_of(const Node& node) {
  switch (node.kind) {
    case Kind::group: return text_of(node.parts);
    case Kind::fraction: return tight_text_of(node.parts[0]) + " / " + tight_text_of(node.parts[1]);
    case Kind::root: return "sqrt(" + text_of(node.parts) + ")";
    case Kind::scripts: {
      std::string text = text_of(node.parts[0]);
      if (!node.parts[1].parts.empty()) text += "_" + tight_text_of(node.parts[1]);
      if (!node.parts[2].parts.empty()) text += "^" + tight_text_of(node.parts[2]);
      return text;
    }
    default: return node.written;
  }
}

// ---------------------------------------------------------------- MathML

std::string Formula::mathml() const { return element("math", mathml_of(nodes_)); }

std::string Formula::mathml_of(const std::vector<Node>& nodes) {
  if (nodes.size() == 1 && nodes[0].kind != Kind::space) return mathml_of(nodes[0]);
  // A browser sets its own spaces around signs, but none between a word and its neighbour.
  const auto is_word = [](const Node& node) {
    return node.kind == Kind::words ||
           (node.kind == Kind::name && node.written.size() > 1 && !is_product(node.written));
  };
  std::string content;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    content += mathml_of(nodes[i]);
    if (nodes[i].kind != Kind::space || i == 0 || i + 1 == nodes.size()) continue;
    const Node &before = nodes[i - 1], &after = nodes[i + 1];
    if (before.kind == Kind::sign || after.kind == Kind::sign) continue;
    if (is_word(before) || is_word(after)) content += "<mspace width=\"0.3em\"/>";
  }
  return element("mrow", content);
}

std::string Formula::mathml_of(const Node& node) {
  switch (node.kind) {
    case Kind::space: return "";
    case Kind::name: return name_mathml(node.written);
    case Kind::number: return number_mathml(node.written);
    case Kind::words: return element("mtext", escaped_markup(node.written));
    case Kind::sign: return sign_mathml(node.written);
    case Kind::group: return mathml_of(node.parts);
    case Kind::fraction:
      return element("mfrac", mathml_of(node.parts[0]) + mathml_of(node.parts[1]));
    case Kind::root: return element("msqrt", mathml_of(node.parts));
    case Kind::scripts: {
      const bool below = !node.parts[1].parts.empty(), above = !node.parts[2].parts.empty();
      std::string content = mathml_of(node.parts[0]);
      if (below) content += mathml_of(node.parts[1]);
      if (above) content += mathml_of(node.parts[2]);
      return element(below && above ? "msubsup" : below ? "msub" : "msup", content);
    }
  }
  return "";
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
