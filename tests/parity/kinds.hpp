// The kinds of parity case, one function each: build the same thing from the public API, run it,
// compare. `layout` is the one to run in; kinds without heads, or with one layout only, ignore it.
#pragma once

#include "headroom/nn/attention.hpp"
#include "parity/parity_case.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace parity {

void linear(Case& c, Layout);
void layer_norm(Case& c, Layout);
void activation(Case& c, Layout);
void cross_entropy(Case& c, Layout);
void embedding(Case& c, Layout);

void sdpa(Case& c, Layout);
void mha(Case& c, Layout layout);
void shared_head(Case& c, Layout);
void separate_heads(Case& c, Layout layout);
void d2l(Case& c, Layout layout);
void grouped_queries(Case& c, Layout);

void encoder_layer(Case& c, Layout layout);
void decoder_layer(Case& c, Layout layout);
void transformer(Case& c, Layout layout);
void language_model(Case& c, Layout layout);
void train(Case& c, Layout layout);

void bert_attention(Case& c, Layout layout);
void gpt2_model(Case& c, Layout layout);

// Model folders of Transformers, as its save_pretrained() wrote them.
void bert_model(Case& c, Layout layout);
void bert_mlm(Case& c, Layout layout);
void bert_classifier(Case& c, Layout layout);
void gpt2_lm(Case& c, Layout layout);
void marian_mt(Case& c, Layout layout);

}  // namespace parity
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
