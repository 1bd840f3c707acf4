// LabRecord: the results of a run of an experiment, as structs and as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "headroom/io/fields.hpp"
#include "headroom/lab/text.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The sizes and the seed of a run. A size of 0 is the experiment's default.
struct LabOptions {
  Index width = 0;  // C
  Index heads = 0;  // H
  std::uint64_t seed = 1;
  Index head_dim() const { return width / heads; }

  template <class Visit>
  static void fields(Visit visit) {
    visit("width", &LabOptions::width);
    visit("heads", &LabOptions::heads);
    visit("seed", &LabOptions::seed);
  }
};

// ---------------------------------------------------------------- blocks of results

/// A table; the type "shapes" has a row per stage: name, shape and origin.
struct LabTable {
  std::string type = "table";  // or "shapes"
  bool figure = false;         // the figure that shows the answer; at most one block of a record is
  Text title, caption;
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;

  template <class Visit>
  static void fields(Visit visit) {
    visit("type", &LabTable::type);
    visit("figure", &LabTable::figure, Presence::if_any);
    visit("title", &LabTable::title);
    visit("caption", &LabTable::caption);
    visit("columns", &LabTable::columns);
    visit("rows", &LabTable::rows);
  }
};

/// Curves over a common axis; `log` draws powers of ten at equal distances.
struct LabChart {
  struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points;
  };
  std::string type = "chart";
  bool figure = false;
  Text title, caption;
  std::string x, y;  // names of the axes
  bool log = false;
  std::vector<Series> series;

  template <class Visit>
  static void fields(Visit visit) {
    visit("type", &LabChart::type);
    visit("figure", &LabChart::figure, Presence::if_any);
    visit("title", &LabChart::title);
    visit("caption", &LabChart::caption);
    visit("x", &LabChart::x);
    visit("y", &LabChart::y);
    visit("log", &LabChart::log);
    visit("series", &LabChart::series);
  }
};

/// Heat maps with common axes and one scale: attention weights, or any matrices.
struct LabMaps {
  struct Map {
    std::string name;
    std::vector<std::vector<double>> rows;  // [queries, keys]
    std::string joint = {};                 // "=" or "+" before a term of an equation

    template <class Visit>
    static void fields(Visit visit) {
      visit("name", &Map::name);
      visit("rows", &Map::rows);
      visit("joint", &Map::joint, Presence::if_any);
    }
  };
  std::string type = "maps";
  bool figure = false;
  Text title, caption;
  double top = 1;  // the magnitude with the darkest shade; negative numbers have another hue
  std::vector<std::string> queries, keys;
  std::vector<Map> maps;

  template <class Visit>
  static void fields(Visit visit) {
    visit("type", &LabMaps::type);
    visit("figure", &LabMaps::figure, Presence::if_any);
    visit("title", &LabMaps::title);
    visit("caption", &LabMaps::caption);
    visit("top", &LabMaps::top, Presence::if_any);
    visit("queries", &LabMaps::queries);
    visit("keys", &LabMaps::keys);
    visit("maps", &LabMaps::maps);
  }
};

/// Outlines of matrices, in which every head's rows and columns have the head's colour.
struct LabHeads {
  /// The rows [first_row, last_row] and columns [first_column, last_column] of a head.
  struct Block {
    Index head = 0, first_row = 0, last_row = 0, first_column = 0, last_column = 0;

    template <class Visit>
    static void fields(Visit visit) {
      visit("head", &Block::head);
      visit("first_row", &Block::first_row);
      visit("last_row", &Block::last_row);
      visit("first_column", &Block::first_column);
      visit("last_column", &Block::last_column);
    }
  };
  struct Matrix {
    std::string name;
    Index rows = 0, columns = 0;
    std::vector<Block> blocks;  // all other elements belong to no head

    template <class Visit>
    static void fields(Visit visit) {
      visit("name", &Matrix::name);
      visit("rows", &Matrix::rows);
      visit("columns", &Matrix::columns);
      visit("blocks", &Matrix::blocks);
    }
  };
  std::string type = "heads";
  bool figure = false;
  Text title, caption;
  std::vector<Matrix> matrices;

  template <class Visit>
  static void fields(Visit visit) {
    visit("type", &LabHeads::type);
    visit("figure", &LabHeads::figure, Presence::if_any);
    visit("title", &LabHeads::title);
    visit("caption", &LabHeads::caption);
    visit("matrices", &LabHeads::matrices);
  }
};

/// A derivation: every step has a name, a formula, and the upper left corners of its matrices.
struct LabDerivation {
  struct Part {
    std::string name, shape;
    std::vector<std::vector<double>> corner;

    template <class Visit>
    static void fields(Visit visit) {
      visit("name", &Part::name);
      visit("shape", &Part::shape);
      visit("corner", &Part::corner);
    }
  };
  struct Step {
    std::string name, formula;
    std::vector<Part> parts;

    template <class Visit>
    static void fields(Visit visit) {
      visit("name", &Step::name);
      visit("formula", &Step::formula);
      visit("parts", &Step::parts);
    }
  };
  std::string type = "matrices";
  bool figure = false;
  Text title, caption;
  std::vector<Step> steps;

  template <class Visit>
  static void fields(Visit visit) {
    visit("type", &LabDerivation::type);
    visit("figure", &LabDerivation::figure, Presence::if_any);
    visit("title", &LabDerivation::title);
    visit("caption", &LabDerivation::caption);
    visit("steps", &LabDerivation::steps);
  }
};

using LabBlock = std::variant<LabTable, LabChart, LabMaps, LabHeads, LabDerivation>;

// A series in JSON is {"name", "points": [[x, y], ...]}; a block is the struct that "type" names.
Record json_of(const LabChart::Series& series);
Record json_of(const LabBlock& block);
void read_json(const JsonNode& from, LabChart::Series& to);
void read_json(const JsonNode& from, LabBlock& to);

// ---------------------------------------------------------------- claims

/// A number measured in one precision, and its bound: one number, or the two ends of an interval.
struct LabMeasurement {
  double measured = 0;
  std::vector<double> bound;
  bool holds = false;

  /// "0.25", "[0.1, 0.4]"
  std::string bound_text() const;

  template <class Visit>
  static void fields(Visit visit) {
    visit("measured", &LabMeasurement::measured);
    visit("bound", &LabMeasurement::bound);
    visit("holds", &LabMeasurement::holds);
  }
};

struct LabClaim {
  std::string text;
  std::string relation;                        // <= >= > == in
  std::map<std::string, LabMeasurement> runs;  // by precision

  template <class Visit>
  static void fields(Visit visit) {
    visit("text", &LabClaim::text);
    visit("relation", &LabClaim::relation);
    visit(the_rest, &LabClaim::runs);
  }
};

// ---------------------------------------------------------------- the record

/// A link to another page of the same run.
struct LabLink {
  std::string name, file;

  template <class Visit>
  static void fields(Visit visit) {
    visit("name", &LabLink::name);
    visit("file", &LabLink::file);
  }
};

/// The answer to a question from a forum beside PyTorch: a program that computes the same as the
/// experiment's, from the same numbers, and prints the same line.
struct LabTwin {
  std::string sentence;  // the answer in one sentence
  std::string pytorch;   // the program, examples/lab/NAME.py
  std::string printed;   // the line, examples/lab/NAME.txt

  template <class Visit>
  static void fields(Visit visit) {
    visit("sentence", &LabTwin::sentence);
    visit("pytorch", &LabTwin::pytorch);
    visit("printed", &LabTwin::printed);
  }
};

/// A run of an experiment in one precision, or two such runs as one.
struct LabRecord {
  std::string kind = "lab", name, title;
  std::string asked_in;               // "" if there is no known source
  std::string group;                  // see Experiment::group()
  std::string question;               // in one sentence
  std::string program;                // the smallest program that shows the answer
  std::optional<LabTwin> twin;        // of questions from forums
  std::string computed;               // the procedure
  std::vector<std::string> formulas;  // in the language of Formula
  LabOptions options;
  std::vector<std::string> precisions;    // "double", "float"; both, in this order
  std::map<std::string, double> seconds;  // by precision
  Text answer;                            // in two sentences
  Text remarks;                           // further findings
  std::vector<LabClaim> claims;
  std::vector<LabBlock> blocks;  // in reading order
  // Added by the program: the command that repeats the run, the machine, and, when the page is one
  // of several, its file and links to the others ("index", "previous", "next").
  std::string command;
  Record environment;
  std::string file;
  std::map<std::string, LabLink> nav;

  template <class Visit>
  static void fields(Visit visit) {
    visit("kind", &LabRecord::kind);
    visit("name", &LabRecord::name);
    visit("title", &LabRecord::title);
    visit("asked_in", &LabRecord::asked_in);
    visit("group", &LabRecord::group);
    visit("question", &LabRecord::question);
    visit("program", &LabRecord::program, Presence::if_any);
    visit("twin", &LabRecord::twin, Presence::if_any);
    visit("computed", &LabRecord::computed);
    visit("formulas", &LabRecord::formulas);
    visit("options", &LabRecord::options);
    visit("precisions", &LabRecord::precisions);
    visit("seconds", &LabRecord::seconds);
    visit("answer", &LabRecord::answer);
    visit("remarks", &LabRecord::remarks, Presence::if_any);
    visit("claims", &LabRecord::claims);
    visit("blocks", &LabRecord::blocks);
    visit("command", &LabRecord::command, Presence::if_any);
    visit("environment", &LabRecord::environment, Presence::if_any);
    visit("file", &LabRecord::file, Presence::if_any);
    visit("nav", &LabRecord::nav, Presence::if_any);
  }
};

/// All experiments of one run of `lab all`, or ("lab-answers") of `lab answer`, whose pages show
/// programs in PyTorch.
struct LabRun {
  std::string kind = "lab-all", command;
  std::vector<LabRecord> experiments;

  template <class Visit>
  static void fields(Visit visit) {
    visit("kind", &LabRun::kind);
    visit("command", &LabRun::command);
    visit("experiments", &LabRun::experiments);
  }
};

/// Throws DataError if a table's rows and columns differ in length, a formula cannot be parsed, a
/// head's block is outside of its matrix, or a claim is measured in a precision that the run does
/// not have.
void check(const LabRecord& record);

/// Merges the records of one experiment run in two precisions. Equal content appears once; where it
/// differs, tables get two columns, charts two curves, maps and matrices two pictures. Throws
/// UsageError when the records are not of one experiment with equal options.
LabRecord merged_records(const LabRecord& first, const LabRecord& second);

/// One line for every claim that fails in any precision: `"gradient": 1.0e-4 in double, must be <=
/// 1.0e-6; 3.0e-6 in float, must be <= 1.0e-6`.
std::vector<std::string> failed_claims(const LabRecord& record);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
