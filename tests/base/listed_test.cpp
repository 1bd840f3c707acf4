// Lists of fields: names, order, and fields inside of members.
#include "headroom/base/listed.hpp"

#include <map>
#include <string>
#include <vector>

#include "headroom/base/head_id.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

struct Inner {
  int first = 1, second = 2;
  using T = Inner;
  using Fields = Listed<&T::first, if_any<&T::second>>;
};

struct Outer {
  int plain = 3, renamed = 4, optional = 5;
  Inner flattened = {}, picked = {7, 8};
  std::map<std::string, int> others = {};
  using T = Outer;
  using Fields = Listed<&T::plain, named_as<"other name", &T::renamed>, if_any<&T::optional>,
                        fields_of<&T::flattened>, inside_of<&T::picked, &Inner::second>,
                        all_others<&T::others>>;
};

struct Derived : Outer {
  int more = 9;
  using T = Derived;
  using Fields = Joined<Outer::Fields, Listed<if_any<named_as<"extra", &T::more>>>>;
};

/// Notes "name value" of each field, with "?" where it may be missing.
template <class Struct>
struct Note {
  const Struct& of;
  std::vector<std::string>& seen;

  template <class Member>
  void operator()(const char* name, Member member, Presence presence) const {
    const char* end = presence == Presence::if_any ? "?" : "";
    seen.push_back(name + (" " + std::to_string(int(std::invoke(member, of)))) + end);
  }
  template <class Member>
  void operator()(TheRest, Member member, Presence) const {
    seen.push_back("the rest, " + std::to_string(std::invoke(member, of).size()));
  }
};

template <class Struct>
std::vector<std::string> listed(const Struct& of) {
  std::vector<std::string> seen;
  Struct::Fields::each(Note<Struct>{of, seen});
  return seen;
}

}  // namespace

TEST_CASE("the fields of a struct are visited in their order, by the names of their members") {
  const std::vector<std::string> outer{"plain 3",   "other name 4", "optional 5?", "first 1",
                                       "second 2?", "second 8",     "the rest, 0"};
  CHECK(listed(Outer()) == outer);
  std::vector<std::string> derived = outer;
  derived.push_back("extra 9?");
  CHECK(listed(Derived()) == derived);
  CHECK(listed(HeadId{AttentionKind::cross, 1, 3}) ==
        std::vector<std::string>{"kind 2", "layer 1", "head 3"});
}

TEST_CASE("a field is changed through its list") {
  Outer outer;
  Outer::Fields::each([&](auto, auto member, Presence) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(std::invoke(member, outer))>, int>) {
      std::invoke(member, outer) = 0;
    }
  });
  CHECK(outer.plain == 0);
  CHECK(outer.flattened.second == 0);
  CHECK(outer.picked.first == 7);
  CHECK(outer.picked.second == 0);
}
