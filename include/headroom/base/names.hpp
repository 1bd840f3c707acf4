// The members of an enumeration and their names, taken from its declaration: there is no second
// list to keep. Options, files, help texts, errors and tests all use these.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace detail {

/// The compiler's own text of this function, which ends with the value: "...Layout::fused]" for a
/// member, "...(Layout)3]" for a number that no member has. GCC and clang agree on this much.
template <auto value>
constexpr const char* signature() {
  return __PRETTY_FUNCTION__;
}

/// "fused", or "" for a number that no member has.
template <auto value>
constexpr std::string_view member_name() {
  std::string_view text = signature<value>();
  text.remove_suffix(1);  // the bracket
  text.remove_prefix(text.find_last_of(":() ") + 1);
  return '0' <= text[0] && text[0] <= '9' ? std::string_view() : text;
}

/// The members are numbered from 0 without gaps, as those of an enumeration without `=` are.
template <class Enum, std::size_t first = 0>
constexpr std::size_t count_members() {
  if constexpr (member_name<static_cast<Enum>(first)>().empty()) {
    return first;
  } else {
    return count_members<Enum, first + 1>();
  }
}

/// A member's name as a C string.
template <auto value>
inline constexpr auto member_text = [] {
  std::array<char, member_name<value>().size() + 1> text{};
  std::copy_n(member_name<value>().data(), text.size() - 1, text.data());
  return text;
}();

template <class Enum, std::size_t... i>
constexpr auto member_texts(std::index_sequence<i...>) {
  return std::array<const char*, sizeof...(i)>{member_text<static_cast<Enum>(i)>.data()...};
}

}  // namespace detail

/// All members of an enumeration, in the order of its declaration:
/// `for (const Layout layout : all_of<Layout>())`. They must be numbered 0, 1, 2, ...
template <class Enum>
constexpr auto all_of() {
  std::array<Enum, detail::count_members<Enum>()> members{};
  for (std::size_t i = 0; i < members.size(); ++i) members[i] = static_cast<Enum>(i);
  return members;
}

/// A member's name as its declaration spells it. An enumeration with other names has its own
/// function name_of(), which the functions below then use.
template <class Enum>
requires std::is_enum_v<Enum>
constexpr const char* name_of(Enum member) {
  constexpr auto names =
      detail::member_texts<Enum>(std::make_index_sequence<detail::count_members<Enum>()>());
  const auto i = static_cast<std::size_t>(member);
  return i < names.size() ? names[i] : "?";
}

/// All names of an enumeration, for help texts: "separate, fused, shared".
template <class Enum>
std::string names_of() {
  std::string names;
  for (const Enum member : all_of<Enum>()) {
    names += (names.empty() ? "" : ", ") + std::string(name_of(member));
  }
  return names;
}

/// The member with this name. `what` says in the error what the name was for. Throws UsageError:
/// `layout: "fussed" is not one of separate, fused, shared`.
template <class Enum>
Enum from_name(const char* what, std::string_view name) {
  for (const Enum member : all_of<Enum>()) {
    if (name_of(member) == name) return member;
  }
  throw UsageError(std::string(what) + ": \"" + std::string(name) + "\" is not one of " +
                   names_of<Enum>());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
