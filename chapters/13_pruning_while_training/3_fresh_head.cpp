//! title: fresh_head
//! replaces: headroom::fresh_head
//! minutes: 15
//! difficulty: 2
//! needs: 12/1
//! hint: The output of a head reaches the model as A_h W_O^h. Which of the two can be 0, so that
//!   the other one is the factor of a gradient?
//! hint: Draw a whole attention, take the share of one head from it, and replace one of its parts
//!   by zeros. The location of the drawn attention has to be that of the old one.
//! hint: rng(seed, "regrow " + head.text(), std::uint64_t(step)); drawn =
//!   make_attention(old.layout(), old.config(), rng); drawn->set_location(old.location()); share =
//!   share_of({"", drawn.get()}, head.head); the part HeadRole::output becomes
//!   zeros(part.shape()).
//! after: In the first step only W_O^h moves, and from the second one on the rest follows. The gate
//!   of such a head has the gradient 0, so never rank it by sensitivity when it has only just come.
// Exercise 13/3, fresh_head: a new head, which changes nothing yet.
#include "3_fresh_head.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

const Attention& attention_of(Module& model, const HeadId& head) {
  return *attention_at(model, {head.kind, head.layer}, "regrowth").attention;
}

}  // namespace

HeadStash fresh_head(Module& model, const HeadId& head, std::uint64_t seed, Index step) {
  const Attention& old = attention_of(model, head);
  if (head.head < 0 || head.head >= old.config().heads) {
    throw UsageError("fresh_head: " + old.location().text() + " has " +
                     std::to_string(old.config().heads) + " heads and no head " +
                     std::to_string(head.head));
  }
  //! solution
  Rng rng(seed, "regrow " + head.text(), static_cast<std::uint64_t>(step));
  //! skeleton
  // const std::string purpose = chapter::todo("what these random numbers are for");
  // Rng rng(seed, purpose, static_cast<std::uint64_t>(step));
  //! wrong same_for_all: every head of the attention gets the numbers of head 0
  //- HeadStash result{share_of({"", drawn.get()}, head.head)};
  //+ HeadStash result{share_of({"", drawn.get()}, 0)};
  //+ result.share.head = head;
  //! wrong twins: two heads that come back at the same step have the same random numbers
  // Rng rng(seed, "regrow", static_cast<std::uint64_t>(step));
  //! wrong any_step: another step gives the same random numbers
  // Rng rng(seed, "regrow " + head.text());
  //! wrong any_seed: another seed gives the same random numbers
  // Rng rng(1, "regrow " + head.text(), static_cast<std::uint64_t>(step));
  //! wrong goes_on: depends on what was drawn before
  // static Rng rng(seed, "regrow");
  //! end
  //! solution
  const std::unique_ptr<Attention> drawn = make_attention(old.layout(), old.config(), rng);
  //! skeleton
  // const std::unique_ptr<Attention> drawn = chapter::todo("a new attention like the old one");
  //! end
  drawn->set_location(old.location());
  //! solution
  HeadStash result{share_of({"", drawn.get()}, head.head)};
  //! skeleton
  // HeadStash result{share_of({"", drawn.get()}, chapter::todo("the number of the head"))};
  //! wrong twins: two heads that come back at the same step have the same random numbers
  // HeadStash result{share_of({"", drawn.get()}, 0)};
  // result.share.head = head;
  //! end
  //! solution
  const auto output = result.share.value.find(HeadRole::output);
  if (output == result.share.value.end()) {
    throw UsageError("fresh_head: a head of " + old.title() + " has no W_O");
  }
  output->second = zeros(output->second.shape());
  //! skeleton
  // const HeadRole role = chapter::todo("the role of the part that has to be 0");
  // Array& part = result.share.value.at(role);
  // part = zeros(part.shape());
  //! wrong as_drawn: its output was not set to 0
  //! wrong all_zero: all parts are 0
  // for (auto& [part, value] : result.share.value) value = zeros(value.shape());
  //! wrong both_sides: W_V is 0 as well
  // for (auto& [part, value] : result.share.value) {
  //   if (part.role == HeadRole::value || part.role == HeadRole::output) {
  //     value = zeros(value.shape());
  //   }
  // }
  //! wrong queries: the queries are 0
  // for (auto& [part, value] : result.share.value) {
  //   if (part.role == HeadRole::query) value = zeros(value.shape());
  // }
  //! end
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
