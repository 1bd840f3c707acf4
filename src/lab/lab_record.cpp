// Both precisions of an experiment in one record, and what did not hold.
#include "headroom/lab/lab_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The names of two precisions, as they stand behind what differs between them.
struct Pair {
  std::string first, second;
};

std::string with(const std::string& name, const std::string& precision) {
  return fmt::format("{} ({})", name, precision);
}

/// An interval is one word with the number before it: "1.8 [1.55, 2.05]".
std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  bool inside = false;
  for (std::string word; stream >> word;) {
    const bool begins = word.front() == '[' && !words.empty();
    if (inside || begins) {
      words.back() += " " + word;
    } else {
      words.push_back(word);
    }
    if (begins) inside = true;
    if (word.find(']') != std::string::npos) inside = false;
  }
  return words;
}

/// A table whose columns stand once where they are equal, else side by side.
Record merged_table(const Record& a, const Record& b, const Pair& names) {
  Record result = a;
  result["columns"] = Record::array();
  for (Record& row : result["rows"]) row = Record::array();
  for (std::size_t c = 0; c < a["columns"].size(); ++c) {
    const std::string column = a["columns"][c];
    bool equal = true;
    for (std::size_t r = 0; r < a["rows"].size(); ++r) {
      equal = equal && a["rows"][r][c] == b["rows"][r][c];
    }
    const auto add = [&](const std::string& title, const Record& from) {
      result["columns"].push_back(title);
      for (std::size_t r = 0; r < from["rows"].size(); ++r) {
        result["rows"][r].push_back(from["rows"][r][c]);
      }
    };
    add(equal ? column : with(column, names.first), a);
    if (!equal) add(with(column, names.second), b);
  }
  return result;
}

bool same_form(const Record& a, const Record& b) {
  if (a["type"] != b["type"]) return false;
  if (a.contains("columns")) {
    return a["columns"] == b["columns"] && a["rows"].size() == b["rows"].size();
  }
  for (const char* list : {"series", "maps", "steps"}) {
    if (a.contains(list) != b.contains(list)) return false;
    if (a.contains(list) && a[list].size() != b[list].size()) return false;
  }
  return !a.contains("queries") || (a["queries"] == b["queries"] && a["keys"] == b["keys"]);
}

/// True when no number of one list of rows is further from its counterpart than can be seen. On a
/// logarithmic axis small numbers are told apart as well as large ones.
bool look_equal(const Record& a, const Record& b, bool log) {
  const double smallest_seen = log ? 0 : 1e-3;
  if (a.size() != b.size()) return false;
  for (std::size_t r = 0; r < a.size(); ++r) {
    if (a[r].size() != b[r].size()) return false;
    for (std::size_t c = 0; c < a[r].size(); ++c) {
      if (!a[r][c].is_number() || !b[r][c].is_number()) return false;
      const double p = a[r][c], q = b[r][c];
      const double size = std::max({smallest_seen, std::abs(p), std::abs(q)});
      if (!(std::abs(p - q) <= 1e-3 * size)) return false;  // what is not a number differs
    }
  }
  return true;
}

/// Entries of a list, each once where it looks equal, else under both names.
Record merged_list(const Record& a, const Record& b, const char* numbers, const Pair& names,
                   bool log = false) {
  Record result = Record::array();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i]["name"] == b[i]["name"] && look_equal(a[i][numbers], b[i][numbers], log)) {
      result.push_back(a[i]);
      continue;
    }
    for (const auto& [from, precision] :
         {std::pair(&a[i], &names.first), std::pair(&b[i], &names.second)}) {
      result.push_back(*from);
      result.back()["name"] = with((*from)["name"], *precision);
    }
  }
  return result;
}

Record merged_block(const Record& a, const Record& b, const Pair& names) {
  Record result = a.contains("columns") ? merged_table(a, b, names) : a;
  for (const char* text : {"title", "look"})
    result[text] = joined_texts(a[text], names.second, b[text]);
  if (a.contains("series")) {
    result["series"] = merged_list(a["series"], b["series"], "points", names, a["log"]);
  } else if (a.contains("maps")) {
    result["maps"] = merged_list(a["maps"], b["maps"], "rows", names);
  } else if (a.contains("steps")) {
    for (std::size_t i = 0; i < a["steps"].size(); ++i) {
      if (a["steps"][i]["parts"].size() != b["steps"][i]["parts"].size()) continue;
      result["steps"][i]["parts"] =
          merged_list(a["steps"][i]["parts"], b["steps"][i]["parts"], "corner", names);
    }
  }
  return result;
}

Record merged_blocks(const Record& a, const Record& b, const Pair& names) {
  Record result = Record::array();
  if (std::equal(a.begin(), a.end(), b.begin(), b.end(), same_form)) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      result.push_back(merged_block(a[i], b[i], names));
    }
    return result;
  }
  for (const auto& [from, precision] :
       {std::pair(&a, &names.first), std::pair(&b, &names.second)}) {
    for (const Record& block : *from) {
      result.push_back(block);
      result.back()["title"] = with(block["title"], *precision);
    }
  }
  return result;
}

Record merged_claims(Record claims, const Record& more, const std::string& precision) {
  for (const Record& claim : more) {
    const auto known = std::find_if(claims.begin(), claims.end(), [&](const Record& other) {
      return other["text"] == claim["text"] && other["relation"] == claim["relation"];
    });
    if (known == claims.end()) {
      claims.push_back(claim);
    } else {
      (*known)[precision] = claim[precision];
    }
  }
  return claims;
}

}  // namespace

Record merged_records(const Record& first, const Record& second) {
  for (const char* key : {"kind", "name", "options"}) {
    if (first[key] == second[key]) continue;
    throw UsageError(fmt::format("lab: records of different runs: {} is {} and {}", key,
                                 first[key].dump(), second[key].dump()));
  }
  const Pair names{first["precisions"][0], second["precisions"][0]};
  Record result = first;
  result["precisions"].push_back(names.second);
  for (const char* key : {"seconds", "answer"}) {
    result[key][names.second] = second[key][names.second];
  }
  result["claims"] = merged_claims(first["claims"], second["claims"], names.second);
  result["blocks"] = merged_blocks(first["blocks"], second["blocks"], names);
  return result;
}

std::string joined_texts(const std::string& text, const std::string& precision,
                         const std::string& other) {
  if (text == other) return text;
  const std::vector<std::string> a = words_of(text), b = words_of(other);
  if (a.size() != b.size()) return fmt::format("{} (In {}: {})", text, precision, other);
  std::string joined;
  for (std::size_t i = 0; i < a.size();) {
    std::string here, there;  // a run of words that differ
    for (; i < a.size() && a[i] != b[i]; ++i) {
      here += " " + a[i];
      there += " " + b[i];
    }
    if (!here.empty()) {
      std::string end;  // a comma or stop that both have stands behind the bracket
      if (here.back() == there.back() &&
          std::string_view(".,:;").find(here.back()) != std::string_view::npos) {
        end = here.back();
        here.pop_back();
        there.pop_back();
      }
      joined += fmt::format("{} ({}:{}){}", here, precision, there, end);
    }
    if (i < a.size()) joined += " " + a[i++];
  }
  return joined.substr(1);
}

std::vector<std::string> failed_claims(const Record& record) {
  std::vector<std::string> failed;
  for (const Record& claim : record.at("claims")) {
    for (const Record& precision : record.at("precisions")) {
      const auto run = claim.find(precision.get<std::string>());
      if (run == claim.end() || run->at("holds").get<bool>()) continue;
      failed.push_back(
          fmt::format("\"{}\" is {} in {}, must be {} {}", claim.at("text").get<std::string>(),
                      figure_text(run->at("measured")), precision.get<std::string>(),
                      claim.at("relation").get<std::string>(), figure_text(run->at("bound"))));
    }
  }
  return failed;
}

std::string figure_text(const Record& value) {
  if (value.is_array()) {
    std::string text;
    for (const Record& one : value) {
      text += text.empty() ? "[" : ", ";
      text += figure_text(one);
    }
    return text + "]";
  }
  if (value.is_null()) return "not a number";  // what JSON makes of NaN and infinity
  if (!value.is_number()) return value.is_string() ? value.get<std::string>() : value.dump();
  const double number = value.get<double>();
  if (!std::isfinite(number)) return "not a number";
  if (number == std::round(number) && std::abs(number) < 1e15) {
    std::string digits = fmt::format("{:.0f}", std::abs(number));
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
    return fmt::format("{}{}", number < 0 ? "-" : "", digits);
  }
  const double size = std::abs(number);
  if (size >= 100 && size < 1e7) return figure_text(std::round(number));
  if (size >= 1e-3 && size < 1e7) return fmt::format("{:.3g}", number);
  const std::string text = fmt::format("{:.1e}", number);  // "3.6e-07"
  const std::size_t e = text.find('e');
  return text.substr(0, e + 1) + std::to_string(std::stoi(text.substr(e + 1)));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
