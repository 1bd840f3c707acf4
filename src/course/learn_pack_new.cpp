// The pack that `learn new` writes: one exercise that works, to be changed.
#include <fmt/format.h>

#include "course/learn_pack.hpp"
#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

struct NewFile {
  const char* name;
  const char* content;  // NAME is the name of the pack, and @ begins a directive of C++
};

constexpr NewFile files[] = {
    {"pack.json", R"({
  "name": "NAME",
  "title": "A title for NAME",
  "language": "en"
}
)"},
    {"01_first/README.md", R"(# First: the mean so far

How much of a sequence must one keep to know its mean at every place?

## Exercise NAME:01/1: `running_mean` (10 minutes)

You write the mean of everything so far. Predict: what is the last element of the result?

```
headroom learn NAME:01/1
```
)"},
    {"01_first/ask.json", R"({
  "questions": [
    {
      "ask": "What has the first element of the result to do with the input?",
      "options": ["It is the mean of the whole input.", "It is the first element.", "It is 0."],
      "right": 1,
      "because": ["That is the last element.",
                  "Nothing but x[0] came so far, and the mean of one number is the number.",
                  "Only if x[0] is."]
    },
    {
      "ask": "How many additions does the result need for T elements, at least about?",
      "options": ["T", "T * T / 2"],
      "right": 0,
      "because": ["Each sum is the one before and one element more.",
                  "That is a loop in a loop: every sum begins anew."]
    }
  ]
}
)"},
    {"01_first/1_running_mean.hpp", R"(// Exercise NAME:01/1: write the mean of everything so far.
//
//   Array running_mean(const Array& x)
//
// x has the shape [T]. Return y of the same shape: y[t] is the mean of x[0], ..., x[t]. You have:
//
//   x.size()        T
//   zeros({T})      T zeros; y[t] is the element t of an array y
//   Real(n)         an integer as the type of all numbers here
#pragma once

@include "common/answer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Array running_mean(const Array& x);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
)"},
    {"01_first/1_running_mean.cpp", R"(//! title: running_mean
//! minutes: 10
//! difficulty: 1
//! path: short
//! hint: How does the sum of the first t + 1 elements follow from that of the first t?
//! hint: Keep the sum in a variable before the loop, and add one element in each round.
//! hint: sum += x[t]; then y[t] is the sum divided by how many elements it has.
//! after: A mean that is updated in this way needs no memory of what came before.
// Exercise NAME:01/1, running_mean: the mean of everything so far.
@include "1_running_mean.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Array running_mean(const Array& x) {
  Array y = zeros({x.size()});
  //! solution
  Real sum = 0;
  for (Index t = 0; t < x.size(); ++t) {
    sum += x[t];
    y[t] = sum / Real(t + 1);
  }
  //! skeleton
  // for (Index t = 0; t < x.size(); ++t) y[t] = chapter::todo("the mean of x[0] to x[t]");
  //! mistake whole_size: every sum was divided by the number of all elements: at t, the sum has
  //!   t + 1 of them
  //- y[t] = sum / Real(t + 1);
  //+ y[t] = sum / Real(x.size());
  //! mistake only_sums: the sums were not divided
  //- y[t] = sum / Real(t + 1);
  //+ y[t] = sum;
  //! mistake no_sum: each element was divided alone: the elements before it belong to the sum
  //- sum += x[t];
  //+ sum = x[t];
  //! end
  return y;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
)"},
    {"01_first/1_running_mean_checks.cpp",
     R"(// Checks running_mean against sums that begin anew at every place.
@include "1_running_mean.hpp"
@include "common/checks.hpp"

namespace {

using namespace headroom;

Array expected(const Array& x) {
  Array y = zeros({x.size()});
  for (Index t = 0; t < x.size(); ++t) {
    double sum = 0;
    for (Index s = 0; s <= t; ++s) sum += x[s];
    y[t] = Real(sum / double(t + 1));
  }
  return y;
}

}  // namespace

TEST_CASE("the means of seven elements") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "running mean");
    const Array x = chapter::random_array({7}, rng);
    chapter::require_equal("the means", expected(x), running_mean(x), {{"place"}, {}});
  }
}

TEST_CASE("one element is its own mean") {
  const Array x(Shape{1}, Real(3));
  chapter::require_equal("the means", x, running_mean(x), {{"place"}, {}});
}
)"},
};

}  // namespace

void write_new_pack(const std::string& name, const fs::path& folder) {
  check_pack_name(name);
  if (fs::exists(folder) && (!fs::is_directory(folder) || !fs::is_empty(folder))) {
    throw UsageError(
        fmt::format("{} is there and not empty; give another folder: learn new {} "
                    "FOLDER",
                    folder.string(), name));
  }
  for (const NewFile& file : files) {
    std::string content = file.content;
    const auto replace = [&](std::string_view from, const std::string& to) {
      for (std::size_t at = 0; (at = content.find(from, at)) != std::string::npos;) {
        content.replace(at, from.size(), to);
        at += to.size();
      }
    };
    replace("NAME", name);
    replace("\n@", "\n#");
    const fs::path path = folder / file.name;
    fs::create_directories(path.parent_path());
    write_file(path, content);
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
