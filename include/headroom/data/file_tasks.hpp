// Tasks that read a file: a pronouncing dictionary, a text, a list of names.
#pragma once

#include "headroom/data/task.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The set that a word belongs to. `index` is its place among the headwords of the file, from 0.
enum class Split { train, validation, test };
Split split_of_word(std::string_view headword, Index index, WordSplit rule);

/// Letters -> phonemes from a dictionary in CMUdict's format: `word PH ON EMES`, further
/// pronunciations as `word(2) ...`, comments after ` #` and in lines that start with `;;;`.
/// All pronunciations of a word are in one set: as pairs in training, as accepted answers
/// elsewhere. Stress marks are removed unless options.stress is set. Throws FileError and DataError
/// (`file:line: ...`).
Seq2SeqTask read_g2p_task(const TaskOptions& options);

/// Characters of a text file: the first 90 % for training, the rest for validation. Throws
/// FileError, and DataError if the training part is too short for a window and the character after
/// it, or the validation part has fewer than 2 characters.
TextCorpus read_text_corpus(const TaskOptions& options);

/// Names, one per line. The vocabulary is the letters that occur and <bos>.
struct NameList {
  Vocabulary vocabulary;
  std::vector<Tokens> names;
  SkippedLines skipped;  // empty lines
};
NameList read_names(const TaskOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
