// The numbers that an experiment of the course takes from one of the laboratory.
#pragma once

#include <stdexcept>
#include <string>

#include "facts.hpp"
#include "headroom_lab/lab/experiment.hpp"

/// A run of an experiment of the laboratory on the learner's functions. Each of its claims that
/// does not hold is printed and counted as one of the program's own.
inline headroom::LabRecord run_lab(const char* name, const headroom::LabOptions& options) {
  headroom::LabRecord record = headroom::run_experiment(headroom::find_experiment(name), options);
  for (const std::string& failed : headroom::failed_claims(record)) {
    std::printf("  does not hold: lab %s: %s\n", name, failed.c_str());
    ++failed_claims();
  }
  return record;
}

/// Prints the number that a claim of the record measured. Throws for a claim that it does not have.
inline void fact(const char* key, const headroom::LabRecord& record, const std::string& text,
                 const char* prediction = "") {
  for (const headroom::LabClaim& claim : record.claims) {
    if (claim.text == text) return fact(key, claim.runs.begin()->second.measured, prediction);
  }
  throw std::runtime_error("lab " + record.name + " has no claim \"" + text + "\"");
}
