// Multi-head attention: the interface that all layouts share.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headroom/base/axis_range.hpp"
#include "headroom/base/head_id.hpp"
#include "headroom/base/listed.hpp"
#include "headroom/base/names.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/nn/module.hpp"
#include "headroom/ops/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

class JsonNode;

/// How the heads' projections are stored: one Linear per head, one for all heads, or one small
/// Linear that every head reuses. add_layout() returns further values.
enum class Layout : int { separate, fused, shared };
const char* name_of(Layout layout);
/// Throws UsageError that lists the names and suggests the nearest.
Layout layout_from(const std::string& name, const std::string& origin = "layout");
/// Reads the name of any layout that layout_from() knows; see io/fields.hpp.
void read_json(const JsonNode& from, Layout& to);

/// The sizes of an attention; they stay those of all heads when some are removed.
struct AttentionConfig {
  Index width = 0;        // C of queries and of the output
  Index heads = 1;        // H
  Index head_dim = 0;     // D; 0: width / heads
  Index key_width = 0;    // C of keys; 0: width
  Index value_width = 0;  // C of values; 0: width
  bool bias = true;       // of all four projections
  Real dropout = 0;       // on the attention weights
  FanPolicy init = FanPolicy::per_matrix;
};

/// The results that an attention returns in addition to its output.
struct AttentionAsk {
  bool maps = false;      // the weights
  bool head_out = false;  // each head's output before its gate
  bool rows = false;      // the row statistics of the weights
  Tensor gates;           // [H], [B, H] or [B, H, Tq], H original: multiply each head's output
};

/// Results of an attention. maps and head_out hold the live heads in ascending original order and
/// are on the tape.
struct AttentionOut {
  Tensor y;         // [B, Tq, C]
  Tensor maps;      // [B, live, Tq, Tk] when asked for
  Tensor head_out;  // [B, live, Tq, D] when asked for
  AttentionRows rows;
};

/// Keys and values of the positions seen so far, so that decoding computes each once.
struct KeyValueCache {
  Array keys, values;  // [B, capacity, live * D]
  Index length = 0;    // positions filled
  Index capacity = 0;  // longest sequence; set before the first use
  bool fixed = false;  // cross-attention: filled by the first call, then only read
  Index answered = 0;  // if fixed: number of queries so far
  /// Row b becomes the former row rows[b] (beam search); there may be fewer than before.
  void reorder(std::span<const Index> rows);
  /// Reserves capacity for `positions` positions in total and keeps the filled ones.
  void reserve(Index positions);
};

/// How a parameter changed when heads were removed or came back: index i of `axis` is the former
/// index from[i], or fresh. A parameter that is no longer in the model is `gone`; one that was not
/// there before is `born`, and all its indices are fresh.
struct ParameterEdit {
  static constexpr Index fresh = -1;
  std::string name;
  int axis = 0;
  std::vector<Index> from = {};
  bool gone = false, born = false;
  Array fresh_values = {};  // of the parameter at the fresh indices, in their order; or undefined

  /// The edit, done to an array of the former parameter's shape. Fresh indices get `values`, which
  /// has as many indices along `axis`, or 0 if it is undefined. An undefined array stays undefined.
  Array applied_to(const Array& array, const Array& values = {}) const;
};

/// The part of a head that a slice of a parameter holds. `score_bias`: its slope or its column of a
/// table (AttentionOptions::score_bias). `extra`: a parameter that only one layout has, for example
/// the weights of a gate.
enum class HeadRole {
  query,
  key,
  value,
  query_bias,
  key_bias,
  value_bias,
  output,
  output_bias,
  score_bias,
  extra
};

/// A part of a head: its role and, if that is `extra`, the name of the parameter, because a head
/// may have several extra parts.
struct HeadPart {
  HeadRole role;
  std::string name;

  HeadPart(HeadRole of, std::string parameter = {})  // NOLINT: a role is a part, except `extra`
      : role(of), name(std::move(parameter)) {}
  auto operator<=>(const HeadPart&) const = default;
};

/// A range of the parameter `name` that belongs to `head`. Invariants of head_slices(),
/// on which transplant, pruning, optimizer blocks and the pages build:
///
///  1. `head` is an original index (0, ..., H - 1 as configured, never renumbered), or of_group (a
///     key that several queries share), or of_none (the output bias) or of_all (the projections of
///     SharedHead). A slice of_group is removed with the last of the heads in `group`.
///  2. Only live heads have slices and are in groups, in ascending order of their index. Slices
///     describe the current state of the layer: call head_slices() again after a prune.
///  3. `name` is the parameter's name within the attention, `axis` one of its axes. All slices of
///     one parameter that belong to heads or groups have the same axis.
///  4. The slices of one parameter do not overlap and together cover it.
///  5. A head has at most one slice of each role (of `extra`: in each parameter), those of its
///     groups included. Its query, key and value slices (and the biases') have D indices along axis
///     0, its output slice, which is its own, D along axis 1; index d of each is feature d.
///  6. The slices follow from alive() and config(), not from the present shapes of the parameters:
///     regrow() asks for them before the parameters have grown.
struct HeadSlice : AxisRange {
  static constexpr Index of_none = -1, of_all = -2, of_group = -3;
  HeadRole role = HeadRole::query;
  Index head = of_none;
  std::string name;
  std::vector<Index> group = {};  // of a slice of_group: its live heads, ascending

  HeadSlice() = default;
  HeadSlice(HeadRole of, Index owner, std::string parameter, int on, Index from, Index to)
      : AxisRange{on, from, to}, role(of), head(owner), name(std::move(parameter)) {}
  HeadSlice(HeadRole of, std::vector<Index> owners, std::string parameter, int on, Index from,
            Index to)
      : AxisRange{on, from, to},
        role(of),
        head(of_group),
        name(std::move(parameter)),
        group(std::move(owners)) {}
  HeadPart part() const { return {role, role == HeadRole::extra ? name : ""}; }
  /// The heads that it belongs to: one, those of a group, or none of them in particular.
  std::span<const Index> owners() const;
  bool belongs_to(Index one) const;
  /// True if it belongs to heads, and to no others than these: it goes and comes back with them.
  bool leaves_with(std::span<const Index> heads) const;
  /// "head 3", "heads 0, 1", "all heads", "no head"
  std::string owner_text() const;

  using T = HeadSlice;
  using Fields = Listed<&T::role, &T::head, &T::group, &T::name, &T::axis, &T::begin, &T::end>;
};

struct HeadShare;  // nn/head_share.hpp

/// Location of an attention in its model.
struct AttentionLocation {
  AttentionKind kind = AttentionKind::encoder_self;
  Index layer = 0;
  auto operator<=>(const AttentionLocation&) const = default;
  /// "cross 1"
  std::string text() const;
};

/// Multi-head attention, y = sum over heads of A_h W_O^h + b_O with A_h = softmax(Q_h K_h^T /
/// sqrt(D)) V_h. Vaswani et al. 2017, section 3.2.2. The layouts differ in how they compute Q, K
/// and V. This class implements masks, gates, cache, score bias and the optional results for all of
/// them.
class Attention : public Module {
 public:
  /// query [B, Tq, C], key [B, Tk, Ck], value [B, Tk, Cv]. Appends the keys and values of this call
  /// to the cache; a fixed cache is filled by the first call and then only read. A cache requires
  /// NoGrad. Throws ShapeError, UsageError.
  AttentionOut operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                          const AttentionMask& mask, const AttentionAsk& ask = {},
                          KeyValueCache* cache = nullptr) const;
  /// Keys and values from one memory; self-attention when it is the query itself.
  Tensor operator()(const Tensor& query, const Tensor& memory, const AttentionMask& mask) const;

  /// Removes heads permanently, by original index: their rows of W_Q, W_K, W_V and biases and their
  /// columns of W_O, in values and gradients. All heads may be removed. Returns the edits that an
  /// optimizer must apply to its moments. Throws UsageError for an index that does not exist or was
  /// removed before.
  std::vector<ParameterEdit> prune(std::span<const Index> original_heads);
  /// The inverse of prune(): heads that were removed come back with the values of their shares,
  /// which may come from another layout with the same roles. If the layer has gradients, those of
  /// the shares come back, too; where a share has none they are 0. A parameter that is `born`
  /// requires a gradient. Returns the edits that an optimizer must apply to its moments. The order
  /// of the shares makes no difference. Throws, before anything changes, UsageError for a head that
  /// does not exist, is alive or is given twice, and for a share with missing or surplus parts;
  /// ShapeError for a part of another shape.
  std::vector<ParameterEdit> regrow(std::span<const HeadShare> heads);
  /// Original indices of the live heads, ascending.
  std::span<const Index> alive() const { return alive_; }
  const AttentionConfig& config() const { return config_; }
  Index head_dim() const { return config_.head_dim; }
  virtual Layout layout() const = 0;
  /// The rows and columns of each parameter that belong to each live head. Transplant, pruning and
  /// optimizers know a layout only by these slices; CONTRIBUTING.md states the laws.
  virtual std::vector<HeadSlice> head_slices() const = 0;
  /// The bias added to the scaled scores of `queries` x `keys` (AttentionOptions::score_bias, over
  /// the original heads); undefined: none. `first` is the position of the first query: in cached
  /// decoding, the number of earlier queries. Keys begin at position 0.
  virtual Tensor score_bias(Index queries, Index keys, Index first) const;
  std::string title() const override;

  /// Location of this attention in its model. The layer or stack that owns it sets the location;
  /// the default is the first layer of an encoder.
  const AttentionLocation& location() const { return location_; }
  void set_location(const AttentionLocation& location) { location_ = location; }

 protected:
  explicit Attention(AttentionConfig config);
  /// Queries, keys and values of all live heads, as columns of tensors [B, T, *].
  struct Projections {
    HeadColumns query, key, value;
  };
  /// Computes the projections. Undefined key and value: projects the query only. `first` is the
  /// position of the first row of each of the three: 0, or in cached decoding the number of earlier
  /// rows. Keys of a memory are projected once, with `first` 0.
  virtual Projections project(const Tensor& query, const Tensor& key, const Tensor& value,
                              Index first) const = 0;
  /// Applies the output projection to the concatenated heads, [B, Tq, live * D] -> [B, Tq, C].
  /// `query` is the input of the query projection.
  virtual Tensor combine(const Tensor& heads, const Tensor& query) const = 0;
  /// Drops the modules of removed heads; `kept` are positions among the live heads. Only layouts
  /// with one module per head override this: prune() removes the slices of all other parameters.
  virtual void drop_modules(std::span<const Index> kept);
  /// The counterpart: inserts the modules of heads that come back; `fresh` are their positions
  /// among the live heads, ascending. regrow() sets the values of their parameters.
  virtual void add_modules(std::span<const Index> fresh);
  Index live() const { return Index(alive_.size()); }
  /// [live, ...] -> [H, ...]: values of the live heads by original index, 0 for the removed ones.
  Tensor of_original_heads(const Tensor& live_heads) const;
  /// Fan-out of the query, key and value projections in Xavier initialisation.
  Index projection_fan_out() const;

 private:
  AttentionConfig config_;
  AttentionLocation location_;
  std::vector<Index> alive_;
};

/// Builds an attention of any layout. Throws UsageError for sizes that do not fit together.
std::unique_ptr<Attention> make_attention(Layout layout, const AttentionConfig& config, Rng& rng);
using AttentionFactory =
    std::function<std::unique_ptr<Attention>(const AttentionConfig& config, Rng& rng)>;

/// Entry of layout_list().
struct LayoutInfo {
  Layout layout;
  std::string name;
  std::string summary;  // "one Linear per head"
};
/// All layouts: those of headroom, then those that were added.
std::vector<LayoutInfo> layout_list();
/// The names of all layouts, for help texts: "separate, fused, shared".
std::string layout_names();

/// Registers a user-defined layout and returns its value. From then on make_attention(), models,
/// checkpoints and help accept its name. Call it before any thread starts. Throws UsageError for a
/// name that is empty or taken, and for an empty factory.
Layout add_layout(std::string name, std::string summary, AttentionFactory make);

/// Passed through a model's forward pass: selects the results of every attention, gives gates by
/// location, and collects the results.
struct HeadProbe {
  bool maps = false, head_out = false, rows = false;
  std::map<AttentionLocation, Tensor> gates;  // given
  Real drop_head = 0;  // given: the probability of drop_head_gates(), in addition to the gates
  std::map<AttentionLocation, AttentionOut> seen;  // filled by the forward pass
  Tensor residual;  // with head_out: the output of the last layer that ran, before the last norm
  /// [B]: number of queries of each example that are not padding; no entry: all. Filled by
  /// training_loss().
  std::map<AttentionKind, Ids> query_lengths;
};

/// Runs one attention of a model with the probe's settings for its location.
Tensor attend(const Attention& attention, const Tensor& query, const Tensor& memory,
              const AttentionMask& mask, HeadProbe* probe, KeyValueCache* cache);

/// An attention of a model with its path.
struct NamedAttention {
  std::string name;
  Attention* attention;
  const AttentionLocation& location() const { return attention->location(); }
  /// The model-wide name of one of its heads, by original index.
  HeadId id(Index head) const { return {location().kind, location().layer, head}; }
  /// The model's name of one of its parameters, as in a HeadSlice or a ParameterEdit.
  std::string full_name(const std::string& parameter) const {
    return name.empty() ? parameter : name + "." + parameter;
  }
};
/// All attentions of a model, ordered by kind and layer; one that several layers share counts once.
/// Throws UsageError naming both paths when two have the same location, because then a HeadId would
/// mean two heads.
std::vector<NamedAttention> attentions(Module& model);
/// The attention of a model at a location. Throws UsageError that says what wanted it and which
/// attentions there are: "prune: the model has no attention encoder 0; it has decoder 0-1".
NamedAttention attention_at(Module& model, const AttentionLocation& location,
                            const std::string& caller);
/// Throws UsageError for gates of an attention that the model does not have: they would have no
/// effect. The models check this in every forward pass; call it in a model of your own.
void check_gates(const Module& model, const HeadProbe* probe);
/// All live heads of a model, in the order of HeadId.
std::vector<HeadId> live_heads(Module& model);
/// All heads that a model was built with and that were removed, likewise.
std::vector<HeadId> removed_heads(Module& model);
/// Removes heads from a model; the edits carry full parameter names. Throws UsageError, before
/// anything changes, for a head that is not alive and for an attention that the model does not
/// have.
std::vector<ParameterEdit> prune(Module& model, std::span<const HeadId> heads);
/// Brings removed heads back into a model; likewise. Throws what Attention::regrow() throws, before
/// anything changes, and UsageError for a head of an attention that the model does not have.
std::vector<ParameterEdit> regrow(Module& model, std::span<const HeadShare> heads);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
