// headroom_parity: reads cases that PyTorch (or Hugging Face Transformers) computed and compares
// headroom with them.
//
// usage: headroom_parity DIR [--only KIND]
//
// A line per case, `ok NAME largest-difference` or `FAIL NAME what`, the worse of its layouts; then
// `N passed, M failed`. Exits 1 if any failed, 2 for a wrong call. Where a number is off by more
// than is allowed, in float, the case runs again with the last bits of its inputs changed: see
// Case::begin_nudged_run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
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
    {"encoder_layer", {parity::encoder_layer, true}},
    {"decoder_layer", {parity::decoder_layer, true}},
    {"transformer", {parity::transformer, true}},
    {"language_model", {parity::language_model, true}},
    {"train", {parity::train, true}},
    {"bert_attention", {parity::bert_attention, true}},
    {"gpt2_model", {parity::gpt2_model, true}},
};

/// How often a case that is off is run again with nudged inputs. In double nothing is excused.
constexpr std::uint64_t nudged_runs = is_double ? 0 : 16;

/// What is wrong with a case; empty when all is well. `summary` is its largest difference, and what
/// rounding excuses.
std::string verdict(parity::Case& c, std::string& summary) {
  const auto kind = kinds.find(c.kind());
  if (kind == kinds.end()) return fmt::format("unknown kind '{}'", c.kind());
  std::vector<Layout> layouts{Layout::fused};
  if (kind->second.both_layouts) layouts.push_back(Layout::separate);
  double largest = 0;
  std::string excused;
  for (const Layout layout : layouts) {
    c.begin_run();
    kind->second.check(c, layout);
    const std::vector<std::string> left_over = c.left_over();
    if (!left_over.empty()) {
      return fmt::format("not compared, {}: {}", name_of(layout), fmt::join(left_over, ", "));
    }
    parity::Worst worst = c.worst();
    if (worst.used > 1 && nudged_runs > 0) {
      for (std::uint64_t seed = 1; seed <= nudged_runs; ++seed) {
        c.begin_nudged_run(seed);
        kind->second.check(c, layout);
      }
      worst = c.worst();
      excused += fmt::format("; {}, {}: the last bits of the inputs decide", name_of(layout),
                             fmt::join(c.off(), ", "));
    }
    if (worst.used > 1) {
      return fmt::format("{} {:.1e} at [{}]: expected {:.17g}, got {:.17g} ({}{})", worst.name,
                         worst.difference, fmt::join(worst.at, ", "), worst.expected, worst.actual,
                         name_of(layout),
                         nudged_runs == 0 ? ""
                                          : fmt::format("; the last bits of the inputs move it by "
                                                        "{:.1e}",
                                                        worst.moved));
    }
    largest = std::max(largest, worst.largest_difference);
  }
  summary = fmt::format("{:.1e}{}", largest, excused);
  return "";
}

/// Prints the line of one case; true when it passed.
bool run(const std::filesystem::path& path, const std::string& only, bool& skipped) {
  const std::string name = path.stem().string();
  std::string wrong;
  std::string summary;
  try {
    parity::Case c(path);
    skipped = !only.empty() && c.kind() != only;
    if (skipped) return true;
    wrong = verdict(c, summary);
  } catch (const std::exception& error) {
    wrong = error.what();
  }
  if (wrong.empty()) {
    fmt::print("ok {} {}\n", name, summary);
  } else {
    fmt::print("FAIL {} {}\n", name, wrong);
  }
  return wrong.empty();
}

constexpr const char* usage_text =
    R"(usage: ./headroom parity DIR [--only KIND] [--precision double|float]

Compares headroom with every case of a folder, outputs and gradients that PyTorch computed.
tests/parity/cases is one. A line per case says how far the worst number is off.
)";

int usage(const std::string& what) {
  fmt::print(stderr, "error: {}\n{}", what, usage_text);
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
      return usage(fmt::format("what is '{}'?", words[i]));
    }
  }
  if (folder.empty()) return usage("a folder of cases is needed");
  if (!std::filesystem::is_directory(folder)) return usage(folder + " is not a folder");

  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());

  int passed = 0, failed = 0;
  for (const std::filesystem::path& path : paths) {
    bool skipped = false;
    const bool good = run(path, only, skipped);
    if (!skipped) ++(good ? passed : failed);
  }
  if (passed + failed == 0) return usage(fmt::format("no cases in {}", folder));
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
