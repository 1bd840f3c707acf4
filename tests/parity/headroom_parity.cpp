// headroom_parity: reads cases that PyTorch (or Hugging Face Transformers) computed and compares
// headroom with them.
//
// usage: headroom_parity DIR [--only KIND]
//
// A line per case, the worse of its layouts: `ok NAME largest-difference`, `FAIL NAME what`, or, in
// float only, `undecided NAME what`: it is off, but so is the same case when the last bits of its
// inputs change (Case::begin_nudged_run), so float cannot tell. Then `N passed, M failed`. Exits 1
// if any failed, 2 for a usage error.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headroom/base/error.hpp"
#include "parity/kinds.hpp"

using namespace headroom;

namespace {

struct Kind {
  void (*check)(parity::Case&, Layout);
  bool both_layouts;
};

const std::map<std::string, Kind> kinds{
    {"linear", {parity::linear, false}},
    {"layer_norm", {parity::layer_norm, false}},
    {"activation", {parity::activation, false}},
    {"cross_entropy", {parity::cross_entropy, false}},
    {"embedding", {parity::embedding, false}},
    {"sdpa", {parity::sdpa, false}},
    {"mha", {parity::mha, true}},
    {"shared_head", {parity::shared_head, false}},
    {"separate_heads", {parity::separate_heads, true}},
    {"d2l", {parity::d2l, true}},
    {"grouped_queries", {parity::grouped_queries, false}},
    {"encoder_layer", {parity::encoder_layer, true}},
    {"decoder_layer", {parity::decoder_layer, true}},
    {"transformer", {parity::transformer, true}},
    {"language_model", {parity::language_model, true}},
    {"train", {parity::train, true}},
    {"bert_attention", {parity::bert_attention, true}},
    {"gpt2_model", {parity::gpt2_model, true}},
    {"bert_model", {parity::bert_model, true}},
    {"bert_mlm", {parity::bert_mlm, true}},
    {"bert_classifier", {parity::bert_classifier, true}},
    {"gpt2_lm", {parity::gpt2_lm, true}},
    {"marian_mt", {parity::marian_mt, true}},
};

/// How often a case that is off is run again with nudged inputs. Double decides every case.
constexpr std::uint64_t nudged_runs = is_double ? 0 : 16;

/// The file of a case that is a folder: a model with what it computes.
constexpr const char* folder_case = "expected.safetensors";

enum class Outcome { passed, undecided, failed };  // from good to bad

struct Verdict {
  Outcome outcome = Outcome::failed;
  std::string text;       // the reason; empty if the case passed
  double difference = 0;  // the largest distance from an expected number
};

/// The verdict on a case in one layout.
Verdict verdict_of(Layout layout, const Kind& kind, parity::Case& c) {
  c.begin_run();
  kind.check(c, layout);
  if (const std::vector<std::string> left_over = c.left_over(); !left_over.empty()) {
    return {Outcome::failed,
            fmt::format("not compared, {}: {}", name_of(layout), fmt::join(left_over, ", "))};
  }
  if (c.off().empty()) return {Outcome::passed, "", c.largest_difference()};
  for (std::uint64_t seed = 1; seed <= nudged_runs; ++seed) {
    c.begin_nudged_run(seed);
    kind.check(c, layout);
  }
  const std::vector<parity::Worst> off = c.off();
  const parity::Worst& worst = off.front();
  std::string text = fmt::format("{} {:.1e} at [{}]: expected {:.17g}, got {:.17g} ({}", worst.name,
                                 worst.difference, fmt::join(worst.at, ", "), worst.expected,
                                 worst.actual, name_of(layout));
  if (nudged_runs > 0) {
    text += fmt::format("; the last bits of the inputs move it by {:.1e}", worst.moved);
  }
  text += off.size() == 1 ? ")" : fmt::format("), and {} more", off.size() - 1);
  return {c.undecided() ? Outcome::undecided : Outcome::failed, text, worst.difference};
}

/// The verdict on a case in the worse of its layouts.
Verdict verdict(parity::Case& c) {
  const auto kind = kinds.find(c.kind());
  if (kind == kinds.end()) return {Outcome::failed, fmt::format("unknown kind '{}'", c.kind())};
  const Verdict fused = verdict_of(Layout::fused, kind->second, c);
  if (!kind->second.both_layouts) return fused;
  const Verdict separate = verdict_of(Layout::separate, kind->second, c);
  const auto badness = [](const Verdict& v) { return std::pair(v.outcome, v.difference); };
  return badness(separate) > badness(fused) ? separate : fused;
}

/// Prints the line of one case; nothing when `only` leaves it out.
std::optional<Outcome> run(const std::filesystem::path& path, const std::string& only) {
  const bool is_folder = path.filename() == folder_case;
  const std::string name = (is_folder ? path.parent_path() : path).stem().string();
  Verdict found;
  try {
    parity::Case c(path);
    if (!only.empty() && c.kind() != only) return std::nullopt;
    found = verdict(c);
  } catch (const std::exception& error) {
    found = {Outcome::failed, error.what()};
  }
  switch (found.outcome) {
    case Outcome::passed: fmt::print("ok {} {:.1e}\n", name, found.difference); break;
    case Outcome::undecided: fmt::print("undecided {} {}\n", name, found.text); break;
    case Outcome::failed: fmt::print("FAIL {} {}\n", name, found.text); break;
  }
  return found.outcome;
}

constexpr const char* usage_text =
    R"(Usage: ./headroom parity DIR [--only KIND] [--precision double|float]

Compares headroom with results that PyTorch computed: the outputs and gradients
of every case (.safetensors, or a model folder with expected.safetensors) in
the folder DIR, for example tests/parity/cases and tests/parity/folders.
Prints one line per case with its largest difference. In float a case can be
undecided: its difference is too large, but rounding of the inputs explains it.

Positionals:
  DIR                       folder of cases (required)

Options:
  --only KIND               compare only the cases of one kind, such as mha
  --precision double|float  precision of the comparison (default: double)

Exit codes:
  0  no case failed
  1  a case failed
  2  usage error
)";

int usage(const std::string& what) {
  fmt::print(stderr, "error: {}\n\n{}", what, usage_text);
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  std::string folder, only;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--help" || words[i] == "-h") {
      fmt::print("{}", usage_text);
      return 0;
    }
    if (words[i] == "--only" && i + 1 < words.size()) {
      only = words[++i];
    } else if (folder.empty() && !words[i].starts_with("--")) {
      folder = words[i];
    } else {
      return usage(fmt::format("unknown argument \"{}\"", words[i]));
    }
  }
  if (folder.empty()) return usage("DIR is missing; give a folder of cases");
  if (!std::filesystem::is_directory(folder))
    return usage(fmt::format("{} is not a folder", folder));

  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") paths.push_back(entry.path());
    if (exists(entry.path() / folder_case)) paths.push_back(entry.path() / folder_case);
  }
  std::sort(paths.begin(), paths.end());

  std::map<Outcome, int> cases;
  for (const std::filesystem::path& path : paths) {
    if (const std::optional<Outcome> outcome = run(path, only)) ++cases[*outcome];
  }
  if (cases.empty())
    return usage(only.empty() ? fmt::format("{} has no cases (.safetensors)", folder)
                              : fmt::format("{} has no cases of the kind {}", folder, only));
  if (const int undecided = cases[Outcome::undecided]; undecided > 0) {
    fmt::print(
        "{} undecided: beyond the bound, where float cannot tell right from wrong; double can\n",
        undecided);
  }
  fmt::print("{} passed, {} failed\n", cases[Outcome::passed], cases[Outcome::failed]);
  return cases[Outcome::failed] == 0 ? 0 : 1;
}
