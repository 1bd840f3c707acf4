//! title: sinusoids
//! replaces: headroom::Positions::Positions
//! minutes: 10
//! difficulty: 1
//! needs: 03/1
//! hint: Channels 0 and 1 are a pair, 2 and 3 are the next. Which number is the same for both
//!   channels of a pair, and what do they differ in?
//! hint: The first channel of the pair of c is c - c % 2. Its share of the width is a number from 0
//!   to below 1: the division must not be one of integers. Channel 2i has the sine, channel 2i + 1
//!   the cosine, of the same angle.
//! hint: angle = double(t) / std::pow(10000.0, double(c - c % 2) / double(width)),
//!   value = c % 2 == 0 ? std::sin(angle) : std::cos(angle).
//! after: Rotary positions, in many newer models, keep the pairs and their frequencies. They do not
//!   add the angles' sines, but turn each pair of a query and of a key by the angle.
// Exercise 09/3, sinusoids: a vector for each position.
#include "3_sinusoids.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

Array sinusoids(Index longest, Index width) {
  Array table({longest, width});
  for (Index t = 0; t < longest; ++t) {
    for (Index c = 0; c < width; ++c) {
      //! solution
      const double angle = double(t) / std::pow(10000.0, double(c - c % 2) / double(width));
      const double value = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
      //! skeleton
      // const double value = chapter::todo("the value of channel c at position t");
      //! mistake pairs_shifted: sine and cosine of a pair have different frequencies: the exponent
      //!   is 2i / C for both, where 2i is the even channel of the pair
      //- const double angle = double(t) / std::pow(10000.0, double(c - c % 2) / double(width));
      //+ const double angle = double(t) / std::pow(10000.0, double(c) / double(width));
      //! mistake channel_for_pair: the channel was doubled. In 2i / C, i counts the pairs, so 2i is
      //!   the even channel itself: 0, 0, 2, 2, 4, 4
      //- const double angle = double(t) / std::pow(10000.0, double(c - c % 2) / double(width));
      //+ const double angle = double(t) / std::pow(10000.0, 2 * double(c) / double(width));
      //! mistake pair_doubled: the channel was doubled. In 2i / C, 2i is the even channel itself:
      //!   0, 0, 2, 2, 4, 4
      //- const double angle = double(t) / std::pow(10000.0, double(c - c % 2) / double(width));
      //+ const double angle = double(t) / std::pow(10000.0, 2 * double(c - c % 2) / double(width));
      //! mistake halves: all sines came first, then all cosines. A model that is trained with it
      //!   does not mind; the paper's order takes turns, and weights of the one do not fit the
      //!   other
      // const Index pair = c % (width / 2);
      // const double angle = double(t) / std::pow(10000.0, 2 * double(pair) / double(width));
      // const double value = c < width / 2 ? std::sin(angle) : std::cos(angle);
      //! mistake integer_division: all channels have the same frequency: an integer divided by a
      //!   larger one is 0
      //- const double angle = double(t) / std::pow(10000.0, double(c - c % 2) / double(width));
      //+ const double angle = double(t) / std::pow(10000.0, (c - c % 2) / width);
      //! mistake multiplied: the position was multiplied by 10000^(2i / C), not divided: the later
      //!   pairs turn faster than from one token to the next
      //- const double angle = double(t) / std::pow(10000.0, double(c - c % 2) / double(width));
      //+ const double angle = double(t) * std::pow(10000.0, double(c - c % 2) / double(width));
      //! mistake exchanged: sine and cosine were exchanged: even channels have the sine
      //- const double value = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
      //+ const double value = c % 2 == 0 ? std::cos(angle) : std::sin(angle);
      //! mistake from_one: the first position was counted as 1: it is 0
      //- const double angle = double(t) / std::pow(10000.0, double(c - c % 2) / double(width));
      //+ const double angle = double(t + 1) / std::pow(10000.0, double(c - c % 2) / double(width));
      //! wrong trained: the table is a parameter
      //- weight = constant(sinusoids(longest, width));
      //+ weight = parameter(sinusoids(longest, width));
      //! end
      table[t * width + c] = Real(float(value));  // rounded: the same table in both precisions
    }
  }
  return table;
}

}  // namespace

Positions::Positions(PositionKind kind_, Index longest_, Index width, Rng& rng)
    : kind(kind_), longest(longest_) {
  if (kind == PositionKind::learned) {
    weight = parameter(normal({longest, width}, Real(0.02), rng));
  } else if (kind == PositionKind::sinusoidal) {
    weight = constant(sinusoids(longest, width));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
