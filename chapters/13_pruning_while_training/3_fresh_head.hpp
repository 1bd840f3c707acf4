// Exercise 13/3: write fresh_head: a new head in the place of one that was removed.
//
//   HeadStash fresh_head(Module& model, const HeadId& head, std::uint64_t seed, Index step)
//
// A HeadStash is a head outside of its model; regrow() adds it to the model. The new head must
//   * not change the function of the model when it is added
//   * be able to learn: some part of it needs a gradient that is not 0
//   * have its own random numbers: the same for the same seed, head and step, and others for
//     another seed, another head or another step. Make them with Rng(seed, "regrow " + head.text(),
//     step), so that a resumed run draws the same ones.
// One of its parts is 0. The others are drawn as the constructor of an attention draws them.
// You have:
//   old                                      the attention of the model without the head
//   make_attention(layout, config, rng)      a new attention with random parameters, as a
//                                            std::unique_ptr; old.layout(), old.config() fit
//   share_of({"", attention}, number)        a head's share: its parts are in share.value, a map
//                                            from HeadRole::query, key, value, query_bias, ...,
//                                            output to an Array
//   zeros(shape)
#pragma once

#include "common/answer.hpp"
#include "headroom/base/error.hpp"
#include "headroom/surgery/regrowth.hpp"
