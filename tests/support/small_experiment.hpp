// An experiment's record with every kind of block, for tests of the laboratory's pages.
#pragma once

#include "headroom_lab/lab/lab_record.hpp"

/// Two precisions, one claim that holds, one that fails in float, one for float only.
inline headroom::LabRecord small_experiment() {
  using namespace headroom;
  LabRecord record;
  record.name = "small";
  record.title = "Is </script> \"safe\"?";
  record.asked_in = "a question";
  record.group = "questions from forums and courses";
  record.question = "Is it?";
  record.program = "int main() {\n  return 0 < 1 ? 0 : 1;\n}\n";
  record.computed = "Nothing much.";
  record.formulas = {"y = x W^T + b", "{dL}/{dW} = \"sum of\" S_{ij}"};
  record.options = {8, 2, 1};
  record.precisions = {"double", "float"};
  record.seconds = {{"double", 0.5}, {"float", 0.25}};
  record.answer = joined("Yes, it is.", "float", "Nearly.");
  record.remarks = "It is small.";
  record.command = "headroom lab small";
  record.environment = {{"threads", 2}};
  record.claims = {
      {"difference", "<=", {{"double", {1e-16, {1e-6}, true}}, {"float", {2e-7, {1e-6}, true}}}},
      {"gradient", "<=", {{"double", {1e-15, {1e-6}, true}}, {"float", {3e-6, {1e-6}, false}}}},
      {"of float only", "in", {{"float", {0, {-1, 1}, true}}}}};
  Table table;
  table.title = sentence("A table of {}", Interval{0.5, 0.25, 1});
  table.caption = "Look here.";
  table.columns = {"", "numbers", "of them odd"};
  table.rows = {{"first", 1050624, nullptr}, {"second", Interval{0.252, 0.238, 0.266}, true}};
  Table shapes;
  shapes.type = "shapes";
  shapes.title = "Shapes";
  shapes.caption = "On the way.";
  shapes.columns = {"stage", "shape", "how it is computed"};
  shapes.rows = {{"x", "[1, 12, 8]", "input"}, {"scores", "[2, 12, 12]", "Q K^T"}};
  Chart chart;
  chart.figure = true;
  chart.title = "A chart";
  chart.caption = "It falls.";
  chart.x = "heads";
  chart.y = "difference";
  chart.log = true;
  chart.series = {{"one", {{1, 1e-7}, {2, 1e-5}, {4, 0.1}}}, {"two", {{2, 1e-3}, {8, 0.5}}}};
  LabMaps maps;
  maps.title = "Maps";
  maps.caption = "Two heads.";
  maps.queries = {"q0", "q1"};
  maps.keys = {"k0", "k1", "k2"};
  maps.maps = {{"head 0", {{0.9, 0.1, 0.0}, {0.2, 0.3, 0.5}}},
               {"head 1", {{0.0, 0.1, 0.9}, {1.0, 0.0, 0.0}}}};
  LabDerivation derivation;
  derivation.title = "A derivation";
  derivation.caption = "Line by line.";
  derivation.steps = {{"dP", "R V^T", {{"single", "[2, 2]", {{1.5, -2e-9}, {0.0, 3.0}}}}}};
  LabMaps terms;
  terms.title = "A sum";
  terms.caption = "Two terms.";
  terms.top = 3;
  terms.queries = {"q0"};
  terms.keys = {"k0", "k1"};
  terms.maps = {{"S", {{1.0, -2.0}}}, {"S_0", {{3.0, -1.0}}, "="}, {"S_1", {{-2.0, -1.0}}, "+"}};
  LabHeads heads;
  heads.title = "Heads of a matrix";
  heads.caption = "Rows.";
  heads.matrices = {{"W_Q", 8, 8, {{0, 0, 3, 0, 7}, {1, 4, 7, 0, 7}}}};
  record.blocks = {table, shapes, chart, maps, derivation, terms, heads};
  return record;
}
