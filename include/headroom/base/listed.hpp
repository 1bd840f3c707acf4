// Listed: the fields of a struct, each named once. What reads, writes or compares all of them
// follows from the list.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <type_traits>

#include "headroom/base/names.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

// A struct lists pointers to its members; a field's name is the member's:
// ```
// struct Point {
//   Index step = 0;
//   double value = 0;
//   std::vector<std::string> notes = {};
//   using T = Point;
//   using Fields = Listed<&T::step, &T::value, if_any<&T::notes>>;
// };
// Point::Fields::each([](const char* name, auto member, Presence) {  // for each field
//   ... std::invoke(member, point) ...
// });
// ```
// JSON in both directions is in io/fields.hpp.

/// Whether JSON must have a field.
enum class Presence {
  always,  // a missing field is an error, unless it is a std::optional
  if_any   // left out when it is empty (a std::optional text: when there is none); may be missing
};

/// In place of a name: the field is a map that takes all members that no other field names.
struct TheRest {};
inline constexpr TheRest the_rest;

/// A name in a template argument.
template <std::size_t size>
struct FieldName {
  constexpr FieldName(const char (&from)[size]) { std::copy_n(from, size, text); }
  char text[size];
};

namespace detail {

template <auto field>
struct IfAny {};
template <FieldName name, auto member>
struct Named {};
template <auto member>
struct Rest {};
template <auto member>
struct Flat {};
template <auto outer, auto inner>
struct Inside {};

/// A field inside of a member.
template <class Outer, class Inner>
struct Path {
  Outer outer;
  Inner inner;
  template <class Struct>
  auto& operator()(Struct& of) const {
    return std::invoke(inner, std::invoke(outer, of));
  }
};

template <auto outer, class Inner>
constexpr auto path(Inner inner) {
  return Path<decltype(outer), Inner>{outer, inner};
}

template <class Member>
struct MemberType;
template <class Struct, class Type>
struct MemberType<Type Struct::*> {
  using type = Type;
};

template <auto member, class Visit>
requires std::is_member_pointer_v<decltype(member)>
constexpr void visit_field(Visit& visit, Presence presence, decltype(member)) {
  visit(member_text<member>.data(), member, presence);
}
template <auto entry, class Visit, auto field>
constexpr void visit_field(Visit& visit, Presence, IfAny<field>) {
  visit_field<field>(visit, Presence::if_any, field);
}
template <auto entry, class Visit, FieldName name, auto member>
constexpr void visit_field(Visit& visit, Presence presence, Named<name, member>) {
  visit(name.text, member, presence);
}
template <auto entry, class Visit, auto member>
constexpr void visit_field(Visit& visit, Presence presence, Rest<member>) {
  visit(the_rest, member, presence);
}
template <auto entry, class Visit, auto outer, auto inner>
constexpr void visit_field(Visit& visit, Presence presence, Inside<outer, inner>) {
  visit(member_text<inner>.data(), path<outer>(inner), presence);
}
template <auto entry, class Visit, auto outer>
constexpr void visit_field(Visit& visit, Presence, Flat<outer>) {
  MemberType<decltype(outer)>::type::Fields::each(
      [&](const char* name, auto inner, Presence presence) {
        visit(name, path<outer>(inner), presence);
      });
}

}  // namespace detail

// The entries of a list that are not just members:
/// A field that may be missing and is left out when it is empty.
template <auto field>
inline constexpr detail::IfAny<field> if_any{};
/// A field with another name than its member.
template <FieldName name, auto member>
inline constexpr detail::Named<name, member> named_as{};
/// A map of all fields that the list does not name. The last entry.
template <auto member>
inline constexpr detail::Rest<member> all_others{};
/// The fields of a member that is a struct, as if they were here.
template <auto member>
inline constexpr detail::Flat<member> fields_of{};
/// One field of a member that is a struct.
template <auto outer, auto inner>
inline constexpr detail::Inside<outer, inner> inside_of{};

/// The fields of a struct.
template <auto... entries>
struct Listed {
  /// Calls visit(name, member, presence) for every field, in order. `name` is a C string, or
  /// the_rest; `member` is for std::invoke(member, a struct).
  template <class Visit>
  static constexpr void each(Visit&& visit) {
    (detail::visit_field<entries>(visit, Presence::always, entries), ...);
  }
};

/// Several lists, such as those of a struct and of its base.
template <class... Lists>
struct Joined {
  /// Calls visit() for the fields of each list, in order.
  template <class Visit>
  static constexpr void each(Visit&& visit) {
    (Lists::each(visit), ...);
  }
};

/// A struct with a list of its fields.
template <class T>
concept HasFields = requires {
  typename T::Fields;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
