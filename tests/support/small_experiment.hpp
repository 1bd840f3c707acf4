// An experiment's record with every kind of block, for tests of the laboratory's pages.
#pragma once

#include "headroom/base/record.hpp"

/// Two precisions, one claim that holds, one that fails in float, one for float only.
inline headroom::Record small_experiment() {
  using headroom::Record;
  Record record = {{"kind", "lab"},
                   {"name", "small"},
                   {"asked_in", "a question"},
                   {"group", "asked on forums and in courses"},
                   {"title", "Is </script> \"safe\"?"},
                   {"question", "Is it?"},
                   {"computed", "Nothing much."},
                   {"formulas", {"y = x W^T + b"}},
                   {"options", {{"width", 8}, {"heads", 2}, {"seed", 1}}},
                   {"precisions", {"double", "float"}},
                   {"seconds", {{"double", 0.5}, {"float", 0.25}}},
                   {"command", "headroom lab small"},
                   {"environment", {{"threads", 2}}}};
  record["answer"] = {{"double", "Yes, it is."}, {"float", "Nearly."}};
  const auto seen = [](double measured, bool holds) {
    return Record{{"measured", measured}, {"bound", 1e-6}, {"holds", holds}};
  };
  record["claims"] =
      Record::array({{{"text", "difference"},
                      {"relation", "<="},
                      {"double", seen(1e-16, true)},
                      {"float", seen(2e-7, true)}},
                     {{"text", "gradient"},
                      {"relation", "<="},
                      {"double", seen(1e-15, true)},
                      {"float", seen(3e-6, false)}},
                     {{"text", "of float only"}, {"relation", "<="}, {"float", seen(0, true)}}});
  record["blocks"] =
      Record::array({{{"type", "table"},
                      {"title", "A table"},
                      {"look", "Look here."},
                      {"columns", {"", "numbers", "of them odd"}},
                      {"rows", {{"first", 1050624, nullptr}, {"second", 0.25, true}}}},
                     {{"type", "shapes"},
                      {"title", "Shapes"},
                      {"look", "On the way."},
                      {"columns", {"stage", "shape", "how it came about"}},
                      {"rows", {{"x", "[1, 12, 8]", "input"}, {"scores", "[2, 12, 12]", "Q K^T"}}}},
                     {{"type", "chart"},
                      {"title", "A chart"},
                      {"look", "It falls."},
                      {"x", "heads"},
                      {"y", "difference"},
                      {"log", true},
                      {"series",
                       {{{"name", "one"}, {"points", {{1, 1e-7}, {2, 1e-5}, {4, 0.1}}}},
                        {{"name", "two"}, {"points", {{2, 1e-3}, {8, 0.5}}}}}}},
                     {{"type", "maps"},
                      {"title", "Maps"},
                      {"look", "Two heads."},
                      {"queries", {"q0", "q1"}},
                      {"keys", {"k0", "k1", "k2"}},
                      {"maps",
                       {{{"name", "head 0"}, {"rows", {{0.9, 0.1, 0.0}, {0.2, 0.3, 0.5}}}},
                        {{"name", "head 1"}, {"rows", {{0.0, 0.1, 0.9}, {1.0, 0.0, 0.0}}}}}}},
                     {{"type", "matrices"},
                      {"title", "A derivation"},
                      {"look", "Line by line."},
                      {"steps",
                       {{{"name", "dP"},
                         {"formula", "R V^T"},
                         {"parts",
                          {{{"name", "single"},
                            {"shape", "[2, 2]"},
                            {"corner", {{1.5, -2e-9}, {0.0, 3.0}}}}}}}}}}});
  return record;
}
