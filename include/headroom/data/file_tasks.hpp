// Tasks over files from outside: a pronouncing dictionary, a text, a list of names.
#pragma once

#include "headroom/data/task.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The set that a word belongs to, by a hash of its letters alone, 90 : 5 : 5.
enum class Split { train, validation, test };
Split split_of_word(std::string_view headword);

/// Letters -> phonemes from a dictionary in CMUdict's format: `word PH ON EMES`, further
/// pronunciations as `word(2) ...`, comments after ` #` and in lines that start with `;;;`.
/// All pronunciations of a word stay in one set: pairs in training, answers elsewhere. Stress marks
/// go unless options.stress. Throws FileError and DataError (`file:line: ...`).
Seq2SeqTask read_g2p_task(const TaskOptions& options);

/// Characters of a text file: the first nine tenths to train on, the rest for validation.
/// Throws FileError, and DataError when one part is too short: for a window and the character after
/// it, for a character and the next.
TextCorpus read_text_corpus(const TaskOptions& options);

/// Names, one a line, over the letters that occur and <bos>.
struct NameList {
  Vocabulary vocabulary;
  std::vector<Tokens> names;
  SkippedLines skipped;  // empty lines
};
NameList read_names(const TaskOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
