// A declaration for tests.
#pragma once

#include "headroom/base/record_json.hpp"
#include "headroom_lab/study/declaration.hpp"

inline headroom::Record small_declaration() {
  return headroom::Record::parse(R"({
    "name": "small",
    "base": {"task": "reverse", "steps": 30, "width": 16},
    "seeds": [1, 2],
    "trunk": {"until": 20},
    "removal": {"prune": [4, 8], "prune_from": 21},
    "arms": {"metric": ["sensitivity", "magnitude"], "slow": {"prune_over": 5}},
    "controls": ["none", "random", "same_allocation", "same_mask_reinitialised",
                 "small_from_start"],
    "random_draws": 3,
    "measures": ["validation_loss", "exact_match"]
  })");
}

inline headroom::StudyDeclaration declared(const headroom::Record& record) {
  return headroom::declaration_of(record, "study.json");
}
