// Tasks whose examples are generated from a seed, in disjoint sets.
#pragma once

#include "headroom/data/task.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Letters backwards: "headroom" -> "moordaeh". 4 to 12 letters.
Seq2SeqTask make_reverse_task(const TaskOptions& options);

/// Digits in ascending order: "30212" -> "01223". 4 to 12 digits.
Seq2SeqTask make_sort_task(const TaskOptions& options);

/// Is a sequence of (), [] and {} balanced? 8 to 24 brackets, both classes equally often.
/// Unbalanced sequences differ from balanced ones by one or two changed brackets, which includes
/// correct counts in the wrong order.
ClassificationTask make_brackets_task(const TaskOptions& options);

/// Returns whether the brackets are balanced.
bool is_balanced(std::string_view brackets);

/// "four hundred and twelve" -> "412", 0 to 999,999. Source tokens are words, target tokens digits.
Seq2SeqTask make_numbers_task(const TaskOptions& options);

/// The other way round: "412" -> "four hundred and twelve".
Seq2SeqTask make_spelling_task(const TaskOptions& options);

/// "3rd of May, 2021" -> "2021-05-03": years 1900 to 2099 in all forms of written_date(). All forms
/// of a calendar day belong to the same set.
Seq2SeqTask make_dates_task(const TaskOptions& options);

/// A day of the Gregorian calendar.
struct Date {
  int year = 1900, month = 1, day = 1;
  bool operator==(const Date&) const = default;
};

/// Number of forms of written_date().
inline constexpr int date_forms = 12;
/// A date written in one of the forms, all of which are unambiguous.
std::string written_date(const Date& date, int form);
/// "2021-05-03"
std::string iso_date(const Date& date);
/// 0 = Monday.
int weekday(const Date& date);

/// "four hundred and twelve". Throws UsageError outside [0, 999,999].
std::string number_words(Index number);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
