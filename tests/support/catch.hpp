// Catch2, version 2.13 or 3: tests include this file only, and use the names that both have or that
// are defined here.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)

#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

namespace Catch {
namespace Matchers {
/// Version 2's name of ContainsSubstring. Version 3 gives it to a matcher of ranges, whose header
/// is not included here.
inline StringContainsMatcher Contains(const std::string& text) { return ContainsSubstring(text); }
}  // namespace Matchers
using Matchers::Contains;
using Matchers::EndsWith;
using Matchers::MatcherBase;
using Matchers::StartsWith;
}  // namespace Catch

#else

#include <catch2/catch.hpp>

#endif
