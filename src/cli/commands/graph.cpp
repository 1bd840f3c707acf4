// `headroom graph`: the tape of one attention as a picture, for each layout.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "cli/frame/command.hpp"
#include "cli/frame/common_options.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "headroom/autograd/graphviz.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/names.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/child_program.hpp"
#include "headroom/nn/attention.hpp"
#include "headroom_lab/blocks/table.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

constexpr auto layouts = all_of<Layout>();

struct GraphCommand {
  std::string layout = "all", out;
  Index width = 12, heads = 3, tokens = 5;
  bool composed = false, dot = false, force = false;

  const char* ending() const { return dot ? ".dot" : ".svg"; }
};

/// Returns a head's colour (report/page/page.css) mixed with two thirds of white, so that dark text
/// on it is readable.
std::string tint(Index head) {
  constexpr int hues[12] = {0x2f6fde, 0xd9730d, 0x2e9e6b, 0xc2487c, 0x8a63d2, 0xa3831a,
                            0x0e8ba0, 0xb3401f, 0x5c7a1f, 0x7a5a3a, 0x4a4fb8, 0xb146b8};
  const int hue = hues[head % 12];
  const auto lightened = [&](int shift) { return (2 * 255 + (hue >> shift & 255)) / 3; };
  return fmt::format("#{:02x}{:02x}{:02x}", lightened(16), lightened(8), lightened(0));
}

/// Head colours by parameter, in the order of its rows or columns; parameters of no head are
/// missing.
std::map<std::string, std::vector<std::string>> colours_of(const Attention& layer) {
  std::vector<HeadSlice> slices = layer.head_slices();
  std::stable_sort(slices.begin(), slices.end(),
                   [](const HeadSlice& a, const HeadSlice& b) { return a.begin < b.begin; });
  std::map<std::string, std::vector<std::string>> colours;
  for (const HeadSlice& slice : slices) {
    if (slice.head < 0) continue;
    colours[slice.name].push_back(tint(slice.head));
  }
  return colours;
}

const char* in_words(Layout layout) {
  switch (layout) {
    case Layout::separate: return "one Linear per head";
    case Layout::fused: return "one Linear for all heads";
    case Layout::shared: return "one small Linear, used by every head";
  }
  return "";
}

/// One layout's tape of self-attention on x [2, T, C].
struct Picture {
  Layout layout;
  TapeView view;
  Index operations = 0;
  std::size_t parameters = 0;
};

Picture picture_of(Layout layout, const GraphCommand& command) {
  Rng rng(1, "graph");  // the values are not shown
  const auto layer = make_attention(layout, {.width = command.width, .heads = command.heads}, rng);
  const Tensor x = parameter(zeros({2, command.tokens, command.width}));
  AttentionAsk ask;
  ask.maps = command.composed;  // attention maps need the composed operations
  Picture picture{layout, {layer->operator()(x, x, x, AttentionMask::none(), ask).y, {}, {}}};
  const auto colours = colours_of(*layer);
  picture.view.leaves.push_back({"x", x, true});
  for (const NamedParameter& parameter : parameters(*layer)) {
    const auto own = colours.find(parameter.name);
    picture.view.leaves.push_back(
        {parameter.name, parameter.tensor, false,
         own == colours.end() ? std::vector<std::string>{} : own->second});
    ++picture.parameters;
  }
  picture.operations = graph_size(picture.view.root);
  picture.view.title = fmt::format("{}: {}\n{} operations, {} parameters", name_of(layout),
                                   in_words(layout), picture.operations, picture.parameters);
  return picture;
}

/// Background, lines and text in the colours of the reader's theme; text on filled shapes is dark.
constexpr const char* picture_style = R"(<style>
svg { color-scheme: light dark; background: #ffffff; }
text { font-family: system-ui, "Noto Sans", "DejaVu Sans", sans-serif; fill: #1d2126; }
.operation path { fill: #ffffff; stroke: #1d2126; }
.edge path { stroke: #7c858f; } .edge polygon { fill: #7c858f; stroke: #7c858f; }
.edge text { fill: #5c6570; }
@media (prefers-color-scheme: dark) {
  svg { background: #14171b; }
  .operation path { fill: #1b1f25; stroke: #c9d1d9; }
  .operation text, .graph > text { fill: #e8e6e1; } .edge text { fill: #9aa4af; }
}
</style>
)";

/// Title and description of a picture, for screen readers.
struct Words {
  std::string title, description;
  std::string elements() const {
    return fmt::format("<title>{}</title>\n<desc>{}</desc>\n", title, description);
  }
};

Words words_of(const Picture& picture) {
  return {fmt::format("The tape of the layout {}: {}", name_of(picture.layout),
                      in_words(picture.layout)),
          fmt::format("{} operations and {} parameters, from the input at the left to the result "
                      "at the right. Arrows carry shapes; colours mark the heads.",
                      picture.operations, picture.parameters)};
}

/// Removes the titles that Graphviz gives to every element ("n0->nresult"): browsers show them as
/// tooltips.
std::string without_titles(std::string svg) {
  constexpr std::string_view close = "</title>\n";
  for (std::size_t at = 0; (at = svg.find("<title>", at)) != std::string::npos;) {
    svg.erase(at, svg.find(close, at) + close.size() - at);
  }
  return svg;
}

/// Draws a graph. Throws FileError, with the remedy, if Graphviz is not installed.
std::string svg_of(const std::string& graph, const Words& words) {
  ChildResult drawn = run_child({"dot", "-Tsvg"}, graph);
  if (drawn.code == ChildResult::not_found) {
    throw FileError(
        "Graphviz is not installed; pictures need it (apt-get install graphviz), --dot does not");
  }
  std::string svg = without_titles(drawn.out);
  const std::size_t first_group = svg.find("<g id=");
  if (drawn.code != 0 || first_group == std::string::npos) {
    throw FileError(
        fmt::format("Graphviz (dot) failed with exit code {}: {}", drawn.code, drawn.err));
  }
  svg.insert(first_group, words.elements() + picture_style);
  return svg.insert(svg.find("<svg") + 4, " role=\"img\"");
}

/// A number in points from the head of an SVG: <svg width="380pt" ...
double points(const std::string& svg, std::string_view what) {
  const std::size_t begin = svg.find(fmt::format(" {}=\"", what), svg.find("<svg"));
  return std::stod(svg.substr(begin + what.size() + 3));
}

/// Returns an SVG as a part of another, at (x, y). Prefixes its ids, so that they stay unique.
std::string as_part(const std::string& svg, double x, double y, const std::string& prefix) {
  const std::size_t body = svg.find('>', svg.find("<svg")) + 1;
  std::string part = fmt::format(
                         "<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
                         "viewBox=\"0 0 {2} {3}\">",
                         x, y, points(svg, "width"), points(svg, "height")) +
                     svg.substr(body);
  for (std::size_t at = 0; (at = part.find(" id=\"", at)) != std::string::npos; at += 5) {
    part.insert(at + 5, prefix);
  }
  return part;
}

/// Arranges pictures in two columns, each in the shorter one.
std::string side_by_side(const std::vector<std::string>& pictures, const Words& words) {
  constexpr double gap = 24;
  double left_width = 0, right_width = 0, left = 0, right = 0;  // how far the columns reach
  std::vector<bool> to_the_left;
  for (const std::string& svg : pictures) {
    to_the_left.push_back(left <= right);
    double& reach = left <= right ? left : right;
    double& width = to_the_left.back() ? left_width : right_width;
    reach += points(svg, "height") + gap;
    width = std::max(width, points(svg, "width"));
  }
  const double height = std::max(left, right) - gap;
  std::string parts;
  left = right = 0;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    double& reach = to_the_left[i] ? left : right;
    parts +=
        as_part(pictures[i], to_the_left[i] ? 0 : left_width + gap, reach, fmt::format("p{}-", i));
    reach += points(pictures[i], "height") + gap;
  }
  return fmt::format(
      "<svg role=\"img\" width=\"{0}pt\" height=\"{1}pt\" viewBox=\"0 0 {0} {1}\" "
      "xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n{2}{3}"
      "</svg>\n",
      left_width + gap + right_width, height, words.elements(), parts);
}

/// Files to write: name and content.
using Files = std::vector<std::pair<fs::path, std::string>>;

/// Returns true if the path has an image extension and is not a directory.
bool names_a_file(const std::string& out) {
  static const std::set<std::string> pictures{".svg", ".dot", ".png", ".jpg", ".jpeg", ".pdf"};
  return pictures.contains(fs::path(out).extension().string()) && !fs::is_directory(out);
}

Files draw(const GraphCommand& command, const std::vector<Picture>& pictures) {
  Files files;
  std::vector<TapeView> views;
  std::vector<std::string> texts;
  Words together{"The tapes of the three layouts of multi-head attention, side by side", ""};
  for (const Picture& picture : pictures) {
    const Words words = words_of(picture);
    together.description += fmt::format("{}, {} operations and {} parameters. ", words.title,
                                        picture.operations, picture.parameters);
    views.push_back(picture.view);
    const std::string graph = to_graphviz(std::span(&picture.view, 1));
    texts.push_back(command.dot ? graph : svg_of(graph, words));
    files.emplace_back(std::string(name_of(picture.layout)) + command.ending(), texts.back());
  }
  if (texts.size() > 1) {
    files.emplace_back(std::string("layouts") + command.ending(),
                       command.dot ? to_graphviz(views) : side_by_side(texts, together));
  }
  if (names_a_file(command.out)) return {{command.out, files.back().second}};
  return files;
}

/// Throws UsageError for options that do not fit together, before anything is drawn.
void check(const GraphCommand& command) {
  require_heads_divide(command.heads, command.width, option_text);
  if (names_a_file(command.out) && fs::path(command.out).extension() != command.ending()) {
    throw UsageError(fmt::format("--out {}: the file name must end in {} {}", command.out,
                                 command.ending(),
                                 command.dot ? "with --dot" : "(.dot needs --dot)"));
  }
}

void write(const GraphCommand& command, Files& files) {
  if (!names_a_file(command.out)) {
    const fs::path folder =
        command.out.empty() ? RunFolder::fresh("runs", "graph").path() : fs::path(command.out);
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) {
      throw FileError(
          fmt::format("--out {}: cannot create the folder: {}", folder.string(), failed.message()));
    }
    for (auto& [name, content] : files) name = folder / name;
  }
  if (!command.force) {
    for (const auto& [name, content] : files) require_free_file(name);
  }
  for (const auto& [name, content] : files) write_file(name, content);
}

int graph(const GraphCommand& command) {
  check(command);
  std::vector<Picture> pictures;
  for (const Layout layout : layouts) {
    if (command.layout == "all" || command.layout == name_of(layout)) {
      pictures.push_back(picture_of(layout, command));
    }
  }
  Files files = draw(command, pictures);
  write(command, files);
  Table table{.columns = {"layout", "operations", "parameters"}};
  for (const Picture& picture : pictures) {
    table.rows.push_back({name_of(picture.layout), std::to_string(picture.operations),
                          std::to_string(picture.parameters)});
  }
  fmt::print("{}\n", table_text(table, TerminalStyle::of(stdout)));
  Record written = Record::array();
  for (const auto& [name, content] : files) {
    fmt::print("{}\n", shown(name.string()));
    written.push_back(name.string());
  }
  set_result({{"files", written}, {"table", json_of(table)}});
  return 0;
}

}  // namespace

Command add_graph(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("graph", "Draws the tape of one attention as a picture (SVG)");
  const auto options = std::make_shared<GraphCommand>();
  app->add_option("--layout", options->layout,
                  "attention layout: " + names_of<Layout>() + ", or all")
      ->type_name("NAME")
      ->check(one_of({"separate", "fused", "shared", "all"}))
      ->capture_default_str();
  const auto number = [&](const char* name, Index& value, const char* what) {
    app->add_option(name, value, what)->check(at_least(1))->capture_default_str();
  };
  number("--width", options->width, "width of the model, the embedding dimension");
  number("--heads", options->heads, "number of heads");
  number("--tokens", options->tokens, "tokens per sequence");
  app->add_flag(
      "--composed", options->composed,
      "draw attention as separate operations, as they run when its weights are requested");
  app->add_option("--out", options->out,
                  "folder of the pictures, or a file (.svg) for one picture (default: a new folder "
                  "in runs/)")
      ->type_name("PATH");
  app->add_flag("--dot", options->dot,
                "write Graphviz text (.dot) instead, without running Graphviz");
  app->add_flag("--force", options->force, "replace existing pictures");
  app->footer(fmt::format("Example: {} graph --heads 2 --out layouts.svg", invocation()));
  return {app, [options] { return graph(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
