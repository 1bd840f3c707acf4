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
#include "headroom_lab/blocks/table.hpp"
#include "headroom_lab/blocks/text.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The sizes and the seed of a run. A size of 0 is the experiment's default.
struct LabOptions {
  Index width = 0;  // C
  Index heads = 0;  // H
  std::uint64_t seed = 1;
  Index head_dim() const { return width / heads; }

  using T = LabOptions;
  using Fields = Listed<&T::width, &T::heads, &T::seed>;
};

// ---------------------------------------------------------------- blocks of results

/// Heat maps with common axes and one scale: attention weights, or any matrices.
struct LabMaps {
  /// One heat map.
  struct Map {
    std::string name;
    std::vector<std::vector<double>> rows;  // [queries, keys]
    std::string joint = {};                 // "=" or "+" before a term of an equation

    using T = Map;
    using Fields = Listed<&T::name, &T::rows, if_any<&T::joint>>;
  };
  std::string type = "maps";
  bool figure = false;
  Text title, caption;
  double top = 1;  // the magnitude with the darkest shade; negative numbers have another hue
  std::vector<std::string> queries, keys;
  std::vector<Map> maps;

  using T = LabMaps;
  using Fields = Listed<&T::type, if_any<&T::figure>, &T::title, &T::caption, if_any<&T::top>,
                        &T::queries, &T::keys, &T::maps>;
};

/// Outlines of matrices, in which every head's rows and columns have the head's colour.
struct LabHeads {
  /// The rows [first_row, last_row] and columns [first_column, last_column] of a head.
  struct Block {
    Index head = 0, first_row = 0, last_row = 0, first_column = 0, last_column = 0;

    using T = Block;
    using Fields = Listed<&T::head, &T::first_row, &T::last_row, &T::first_column, &T::last_column>;
  };
  struct Matrix {
    std::string name;
    Index rows = 0, columns = 0;
    std::vector<Block> blocks;  // all other elements belong to no head

    using T = Matrix;
    using Fields = Listed<&T::name, &T::rows, &T::columns, &T::blocks>;
  };
  std::string type = "heads";
  bool figure = false;
  Text title, caption;
  std::vector<Matrix> matrices;

  using T = LabHeads;
  using Fields = Listed<&T::type, if_any<&T::figure>, &T::title, &T::caption, &T::matrices>;
};

/// A derivation: every step has a name, a formula, and the upper left corners of its matrices.
struct LabDerivation {
  /// A matrix of a step.
  struct Part {
    std::string name, shape;
    std::vector<std::vector<double>> corner;

    using T = Part;
    using Fields = Listed<&T::name, &T::shape, &T::corner>;
  };
  /// A formula with the matrices in it.
  struct Step {
    std::string name, formula;
    std::vector<Part> parts;

    using T = Step;
    using Fields = Listed<&T::name, &T::formula, &T::parts>;
  };
  std::string type = "matrices";
  bool figure = false;
  Text title, caption;
  std::vector<Step> steps;

  using T = LabDerivation;
  using Fields = Listed<&T::type, if_any<&T::figure>, &T::title, &T::caption, &T::steps>;
};

using LabBlock = std::variant<Table, Chart, LabMaps, LabHeads, LabDerivation>;

// A block in JSON is the struct that "type" names.
/// A block as JSON, and back. Throws DataError.
Record json_of(const LabBlock& block);
void read_json(const JsonNode& from, LabBlock& to);

// ---------------------------------------------------------------- claims

/// A number measured in one precision, and its bound: one number, or the two ends of an interval.
struct LabMeasurement {
  double measured = 0;
  std::vector<double> bound;
  bool holds = false;

  /// "0.25", "[0.1, 0.4]"
  std::string bound_text() const;

  using T = LabMeasurement;
  using Fields = Listed<&T::measured, &T::bound, &T::holds>;
};

/// A statement that an experiment checks.
struct LabClaim {
  std::string text;
  std::string relation;                        // <= >= > == in
  std::map<std::string, LabMeasurement> runs;  // by precision

  using T = LabClaim;
  using Fields = Listed<&T::text, &T::relation, all_others<&T::runs>>;
};

// ---------------------------------------------------------------- the record

/// A link to another page of the same run.
struct LabLink {
  std::string name, file;

  using T = LabLink;
  using Fields = Listed<&T::name, &T::file>;
};

/// The answer to a question from a forum beside PyTorch: a program that computes the same as the
/// experiment's, from the same numbers, and prints the same line.
struct LabTwin {
  std::string sentence;  // the answer in one sentence
  std::string pytorch;   // the program, examples/lab/NAME.py
  std::string printed;   // the line, examples/lab/NAME.txt

  using T = LabTwin;
  using Fields = Listed<&T::sentence, &T::pytorch, &T::printed>;
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

  using T = LabRecord;
  using Fields =
      Listed<&T::kind, &T::name, &T::title, &T::asked_in, &T::group, &T::question,
             if_any<&T::program>, if_any<&T::twin>, &T::computed, &T::formulas, &T::options,
             &T::precisions, &T::seconds, &T::answer, if_any<&T::remarks>, &T::claims, &T::blocks,
             if_any<&T::command>, if_any<&T::environment>, if_any<&T::file>, if_any<&T::nav>>;
};

/// All experiments of one run of `lab all`, or ("lab-answers") of `lab answer`, whose pages show
/// programs in PyTorch.
struct LabRun {
  std::string kind = "lab-all", command;
  std::vector<LabRecord> experiments;

  using T = LabRun;
  using Fields = Listed<&T::kind, &T::command, &T::experiments>;
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
