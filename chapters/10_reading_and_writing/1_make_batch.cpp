//! title: make_batch
//! replaces: headroom::make_batch
//! minutes: 15
//! difficulty: 1
//! path: short
//! hint: The target is "cat". Write down, one below the other, what the decoder may have read and
//!   what it should name next, until there is nothing left to name. How many columns are there?
//! hint: Build three lists of rows, one row for each example: sources, inputs of the decoder,
//!   labels. The last two have one token more than the target, at different ends. Then pad each
//!   list; the lengths that pad() returns are those that you need.
//! hint: inputs: <bos> and then the target, padded with target.pad(). labels: the target and then
//!   <eos>, padded with ignored_label. target_lengths are the lengths of either before padding.
//!   source_tokens and target_tokens are the sums of the two arrays of lengths.
//! after: The loader draws examples of similar length for a batch, so that little of it is padding:
//!   src/headroom/data/batch_plan.cpp.
// Exercise 10/1, make_batch: teacher forcing, as arrays.
#include "1_make_batch.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

Index sum(const Ids& ids) {
  Index total = 0;
  for (const std::int32_t id : ids.span()) total += id;
  return total;
}

}  // namespace

Seq2SeqBatch make_batch(std::span<const Seq2SeqExample> set, std::vector<Index> examples,
                        const Vocabulary& source, const Vocabulary& target) {
  std::vector<Tokens> sources, inputs, labels;  // one row for each example of the batch
  //! solution
  for (const Index i : examples) {
    const Seq2SeqExample& example = set[static_cast<std::size_t>(i)];
    sources.push_back(example.source);
    Tokens input{target.bos()}, label = example.target;
    input.insert(input.end(), example.target.begin(), example.target.end());
    label.push_back(target.eos());
    inputs.push_back(input);
    labels.push_back(label);
  }
  //! skeleton
  // for (const Index i : examples) {
  //   const Seq2SeqExample& example = set[static_cast<std::size_t>(i)];
  //   Tokens input = chapter::todo("the row of target_in"),
  //          label = chapter::todo("the row of labels");
  //   sources.push_back(example.source);
  //   inputs.push_back(input);
  //   labels.push_back(label);
  // }
  //! wrong not_shifted: the decoder reads the token that it should name
  //- Tokens input{target.bos()}, label = example.target;
  //- input.insert(input.end(), example.target.begin(), example.target.end());
  //+ Tokens label = example.target;
  //  label.push_back(target.eos());
  //- inputs.push_back(input);
  //+ inputs.push_back(label);
  //! mistake not_shifted_from_bos: the decoder reads the token that it should name: labels have the
  //!   same token in each column as target_in. They are one position ahead: the target, then <eos>
  //- Tokens input{target.bos()}, label = example.target;
  //+ Tokens input{target.bos()};
  //  input.insert(input.end(), example.target.begin(), example.target.end());
  //- label.push_back(target.eos());
  //  inputs.push_back(input);
  //- labels.push_back(label);
  //+ labels.push_back(input);
  //! wrong shifted_to_the_left: target_in and labels were exchanged
  //- inputs.push_back(input);
  //- labels.push_back(label);
  //+ inputs.push_back(label);
  //+ labels.push_back(input);
  //! mistake end_is_no_label: <eos> is no label, so nobody learns when to stop
  //- label.push_back(target.eos());
  //! mistake padding_for_end: <eos> is no label, and padding is one
  //- label.push_back(target.eos());
  // ...
  //- batch.labels = pad(labels, ignored_label).ids;
  //+ batch.labels = pad(labels, target.pad()).ids;
  //! mistake begin_is_label: <bos> is a label. It is given, so nobody has to name it
  //  label.push_back(target.eos());
  //+ label.insert(label.begin(), target.bos());
  //! mistake first_examples: the examples 0, 1, 2, ... of the set were taken. Row b belongs to
  //!   set[examples[b]]
  //- for (const Index i : examples) {
  //-   const Seq2SeqExample& example = set[static_cast<std::size_t>(i)];
  //+ for (std::size_t i = 0; i < examples.size(); ++i) {
  //+   const Seq2SeqExample& example = set[i];
  //! end

  Seq2SeqBatch batch;
  batch.examples = examples;
  //! solution
  const Padded from = pad(sources, source.pad()), to = pad(inputs, target.pad());
  batch.source = from.ids;
  batch.source_lengths = from.lengths;
  batch.target_in = to.ids;
  batch.target_lengths = to.lengths;
  batch.labels = pad(labels, ignored_label).ids;
  batch.source_tokens = sum(from.lengths);
  batch.target_tokens = sum(to.lengths);
  //! skeleton
  // const Padded from = pad(sources, source.pad());
  // batch.source = from.ids;
  // batch.source_lengths = from.lengths;
  // const Padded to = chapter::todo("the padded inputs of the decoder");
  // batch.target_in = to.ids;
  // batch.target_lengths = to.lengths;
  // batch.labels = chapter::todo("the padded labels");
  // batch.source_tokens = sum(from.lengths);
  // batch.target_tokens = chapter::todo("the number of target tokens, without padding");
  //! mistake pads_count: padding is a label like any other: the model would be praised for naming
  //!   <pad>. Pad labels with ignored_label
  //- batch.labels = pad(labels, ignored_label).ids;
  //+ batch.labels = pad(labels, target.pad()).ids;
  //! mistake ignored_is_read: target_in was padded with ignored_label, and the decoder would look
  //!   up token -100. Only labels are padded with it
  //- const Padded from = pad(sources, source.pad()), to = pad(inputs, target.pad());
  //+ const Padded from = pad(sources, source.pad()), to = pad(inputs, ignored_label);
  //! wrong counts_padding: padding was counted
  //- batch.source_tokens = sum(from.lengths);
  //- batch.target_tokens = sum(to.lengths);
  //+ batch.source_tokens = from.ids.size();
  //+ batch.target_tokens = to.ids.size();
  //! mistake longest_for_all: every sequence is said to be as long as the longest, so its padding
  //!   counts as text
  //- batch.source_lengths = from.lengths;
  //+ batch.source_lengths = Ids(from.lengths.shape(), std::int32_t(from.ids.dim(1)));
  //  batch.target_in = to.ids;
  //- batch.target_lengths = to.lengths;
  //+ batch.target_lengths = Ids(to.lengths.shape(), std::int32_t(to.ids.dim(1)));
  //! mistake begin_not_counted: the token that is added to the target was not counted
  //- batch.target_lengths = to.lengths;
  //+ batch.target_lengths = Ids(to.lengths.shape());
  //+ for (Index b = 0; b < to.lengths.size(); ++b) batch.target_lengths[b] = to.lengths[b] - 1;
  //! mistake no_begin: <bos> is missing: then nothing has been read before the first label
  //- batch.target_in = to.ids;
  //+ for (Tokens& row : inputs) row.erase(row.begin());
  //+ batch.target_in = pad(inputs, target.pad()).ids;
  //! mistake last_is_not_read: the last token of the target is never read, since target_in ends
  //!   before it. Then <eos> is no label, and nobody learns when to stop
  //- batch.target_in = to.ids;
  //+ for (Tokens& row : inputs) row.resize(std::max(row.size(), std::size_t{2}) - 1);
  //+ batch.target_in = pad(inputs, target.pad()).ids;
  //! mistake end_is_read: <eos> is in target_in. Nothing is to be named after it, so the decoder
  //!   need not read it
  //- batch.target_in = to.ids;
  //+ for (Tokens& row : inputs) row.push_back(target.eos());
  //+ batch.target_in = pad(inputs, target.pad()).ids;
  //! end
  return batch;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
