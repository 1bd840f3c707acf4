// Task dates: written dates -> ISO dates.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <string>

#include "data/unique_draws.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/data/embedded_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr std::array months{"January", "February", "March",     "April",   "May",      "June",
                            "July",    "August",   "September", "October", "November", "December"};
constexpr std::array weekdays{"Monday", "Tuesday",  "Wednesday", "Thursday",
                              "Friday", "Saturday", "Sunday"};
constexpr std::array ordinals{"first",        "second",        "third",          "fourth",
                              "fifth",        "sixth",         "seventh",        "eighth",
                              "ninth",        "tenth",         "eleventh",       "twelfth",
                              "thirteenth",   "fourteenth",    "fifteenth",      "sixteenth",
                              "seventeenth",  "eighteenth",    "nineteenth",     "twentieth",
                              "twenty-first", "twenty-second", "twenty-third",   "twenty-fourth",
                              "twenty-fifth", "twenty-sixth",  "twenty-seventh", "twenty-eighth",
                              "twenty-ninth", "thirtieth",     "thirty-first"};

std::chrono::sys_days days_since_epoch(const Date& date) {
  return std::chrono::sys_days(std::chrono::year_month_day(
      std::chrono::year(date.year), std::chrono::month(static_cast<unsigned>(date.month)),
      std::chrono::day(static_cast<unsigned>(date.day))));
}

Date date_of(std::chrono::sys_days days) {
  const std::chrono::year_month_day calendar(days);
  return {int(calendar.year()), int(unsigned(calendar.month())), int(unsigned(calendar.day()))};
}

// 1 -> "1st"
std::string numbered(int day) {
  const bool teen = day / 10 == 1;
  const char* ending = teen            ? "th"
                       : day % 10 == 1 ? "st"
                       : day % 10 == 2 ? "nd"
                       : day % 10 == 3 ? "rd"
                                       : "th";
  return fmt::format("{}{}", day, ending);
}

std::string upper(std::string text) {
  for (char& c : text) {
    if ('a' <= c && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

}  // namespace

int weekday(const Date& date) {
  return int(std::chrono::weekday(days_since_epoch(date)).iso_encoding()) - 1;
}

std::string iso_date(const Date& date) {
  return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
}

std::string written_date(const Date& date, int form) {
  const auto [y, m, d] = date;
  const std::string month = months.at(static_cast<std::size_t>(m - 1));
  const std::string day_name = weekdays.at(static_cast<std::size_t>(weekday(date)));
  const std::string ordinal = ordinals.at(static_cast<std::size_t>(d - 1));
  switch (form) {
    case 0: return fmt::format("{} {} {}", d, month, y);                // 3 May 2021
    case 1: return fmt::format("{} {}, {}", month, d, y);               // May 3, 2021
    case 2: return fmt::format("{} of {}, {}", numbered(d), month, y);  // 3rd of May, 2021
    case 3: return fmt::format("{} {}, {}", month, numbered(d), y);     // May 3rd, 2021
    case 4: return fmt::format("{}, {} {} {}", day_name, d, month, y);  // Monday, 3 May 2021
    case 5: return fmt::format("{}, {} {}, {}", day_name.substr(0, 3), month.substr(0, 3), d, y);
    case 6: return fmt::format("{:02}-{}-{}", d, upper(month.substr(0, 3)), y);  // 03-MAY-2021
    case 7: return fmt::format("{}/{:02}/{:02}", y, m, d);                       // 2021/05/03
    case 8: return fmt::format("{}.{}.{}", d, m, y);                             // 3.5.2021
    case 9: return fmt::format("the {} of {} {}", ordinal, month, y);   // the third of May 2021
    case 10: return fmt::format("{} {} {}", y, month.substr(0, 3), d);  // 2021 May 3
    case 11: return fmt::format("{}{:02}{:02}", y, m, d);               // 20210503
    default:
      throw UsageError(fmt::format("written_date: no form {}; there are {}", form, date_forms));
  }
}

Seq2SeqTask make_dates_task(const TaskOptions& options) {
  const SetSizes sizes = sizes_of(options, {20'000, 500, 1'000});
  const auto first = days_since_epoch({1900, 1, 1});
  const Index days = (days_since_epoch({2100, 1, 1}) - first).count();
  const Index unseen = sizes.validation + sizes.test;
  if (unseen > days / 2) {
    throw UsageError(
        fmt::format("task dates: {} days for validation and test are too many; at most half of all "
                    "{} can be kept from training",
                    unseen, days));
  }

  // Days in random order: the first ones are for test and validation, in one form each, the others
  // for training, in any number of forms.
  Rng rng(options.seed, "dates");
  const std::vector<Index> order = random_order(days, rng);
  const auto written = [&](Index place) {
    const Date date = date_of(first + std::chrono::days(at(order, place)));
    return std::pair(written_date(date, int(rng.below(date_forms))), iso_date(date));
  };

  std::string every_letter = "-0123456789";
  for (int month = 1; month <= 12; ++month) {
    for (int day = 1; day <= 31; ++day) {
      if (month != 1 && day > 28) break;
      for (int form = 0; form < date_forms; ++form) {
        every_letter += written_date({2001, month, day}, form);
      }
    }
  }
  Seq2SeqTask task{
      .name = "dates",
      .source = Vocabulary::of_text(TokenKind::characters, Specials::all, every_letter),
      .target = Vocabulary::of_text(TokenKind::characters, Specials::all, "-0123456789"),
      .train = {},
      .validation = {},
      .test = {},
      .skipped = {}};
  const auto question = [&](const std::pair<std::string, std::string>& pair) {
    return Seq2SeqQuestion{task.source.encode(pair.first), {task.target.encode(pair.second)}};
  };
  for (Index i = 0; i < sizes.test; ++i) task.test.push_back(question(written(i)));
  for (Index i = sizes.test; i < unseen; ++i) task.validation.push_back(question(written(i)));
  const auto train = unique_draws(
      "dates", sizes.train, [&](Index) { return written(unseen + rng.below(days - unseen)); });
  for (const auto& [source, target] : train) {
    task.train.push_back({task.source.encode(source), task.target.encode(target)});
  }
  return task;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
