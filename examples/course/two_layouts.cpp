// Two layouts, one function: the numbers of chapter 07. Layers of both layouts get the same
// weights; then outputs, gradients and the effect of a forgotten transpose are compared.
#include <algorithm>
#include <cmath>

#include "facts.hpp"
#include "figure.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/nn/separate_heads.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/surgery/transplant.hpp"

using namespace headroom;

namespace {

constexpr Index width = 64, heads = 8, head_dim = width / heads, batch = 2, tokens = 10;

/// Both layouts with the same weights, and the gradients of <dy, y>.
void compare_layouts() {
  Rng rng(1, "two layouts");
  const AttentionConfig config{.width = width, .heads = heads};
  SeparateHeads separate(config, rng);
  FusedHeads fused(config, rng);
  Tensor x = parameter(normal({batch, tokens, width}, 1, rng));
  const auto output = [&](const Attention& layer) { return layer(x, x, AttentionMask::none()); };
  claim("before", relative_difference(output(separate).value(), output(fused).value()), 0.5, 3);

  transplant(separate, fused);
  const Array dy = normal({batch, tokens, width}, 1, rng);
  const Tensor of_separate = output(separate);
  of_separate.backward(dy);
  const Array dx = x.grad().clone();
  x.zero_grad();
  const Tensor of_fused = output(fused);
  of_fused.backward(dy);
  claim("forward", largest_difference(of_separate.value(), of_fused.value()), 0, 0, "07/a");
  claim("dW", gradient_distance(separate, fused).largest, 0, 0);
  claim("dX", relative_difference(dx, x.grad()), 1e-17, 1e-13);
  claim("parameters", double(count_parameters(fused)), 16640, 16640);
  claim("parameters separate", double(count_parameters(separate)), 16640, 16640);
  claim("tensors separate", double(parameters(separate).size()), 50, 50);
  claim("tensors fused", double(parameters(fused).size()), 4, 4);
}

double norm_of_rows(const Array& matrix, Index begin, Index end) {
  double sum = 0;
  for (Index i = begin * matrix.dim(1); i < end * matrix.dim(1); ++i) {
    sum += std::pow(double(matrix[i]), 2);
  }
  return std::sqrt(sum);
}

/// Closes the gate of head 3 in a fused layer, and counts the rows without a gradient.
void close_a_head() {
  Rng rng(2, "two layouts");
  const FusedHeads layer({.width = width, .heads = heads}, rng);
  const Tensor x(normal({batch, tokens, width}, 1, rng));
  Array gates({heads}, 1);
  gates[3] = 0;
  AttentionAsk ask;
  ask.gates = Tensor(gates);
  layer(x, x, x, AttentionMask::none(), ask).y.backward(normal(x.shape(), 1, rng));
  const Array& gradient = layer.in_proj_weight.grad();
  Index rows = 0;
  for (Index row = 0; row < 3 * width; ++row) {
    rows += norm_of_rows(gradient, row, row + 1) == 0 ? 1 : 0;
  }
  claim("rows without a gradient", double(rows), 24, 24, "07/b");
  double closed = 0, least = 1e9;
  for (Index head = 0; head < 3 * heads; ++head) {
    const double norm = norm_of_rows(gradient, head * head_dim, (head + 1) * head_dim);
    double& seen = head % heads == 3 ? closed : least;
    seen = head % heads == 3 ? std::max(seen, norm) : std::min(seen, norm);
  }
  claim("gradient of the closed head", closed, 0, 0);
  claim("least of the others", least, 0.1, 1e3);
}

/// The change of the outputs before the last position when the last token changes, under a causal
/// mask, in attention whose heads are merged by `merge`.
template <class Merge>
double leak(Index head_count, Merge merge) {
  Rng rng(7, "two layouts");
  const Index length = 6, c = 8;
  Array before = normal({1, length, c}, 1, rng), after = before.clone();
  for (Index i = 0; i < c; ++i) after[(length - 1) * c + i] += rng.normal();
  const auto weight = [&] { return Tensor(normal({c, c}, Real(0.35), rng)); };
  const Tensor wq = weight(), wk = weight(), wv = weight();
  Bytes causal({length, length});
  for (Index i = 0; i < length * length; ++i) causal[i] = i % length <= i / length;
  const auto output = [&](const Array& tokens_of) {
    const Tensor x(tokens_of);
    const auto part = [&](const Tensor& w) {
      return composed::split_heads({linear(x, w), 0}, head_count, c / head_count);
    };
    const Tensor scores = matmul(part(wq), transpose(part(wk))) * attention_scale(c / head_count);
    return merge(matmul(masked_softmax(scores, causal), part(wv))).value();
  };
  const AxisRange earlier{1, 0, length - 1};
  return largest_difference(slice(output(before), earlier), slice(output(after), earlier));
}

/// The reshape without the transpose.
Tensor merge_without_swap(const Tensor& x) {
  return reshape(x, {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

// ---------------------------------------------------------------- the figure

/// The places of a layer's rows of queries, keys and values.
Record places_of(const Attention& layer) {
  Record places = Record::array();
  for (const HeadSlice& part : layer.head_slices()) {
    const bool row =
        part.role == HeadRole::query || part.role == HeadRole::key || part.role == HeadRole::value;
    if (!row) continue;
    places.push_back({{"name", part.name},
                      {"role", name_of(part.role)},
                      {"head", part.head},
                      {"begin", part.begin},
                      {"end", part.end}});
  }
  return places;
}

/// Copies the rows of a separate layer into a fused one, head after head, and writes how far apart
/// the outputs are after each row. Interleaved: row d of head h goes to d H + h of its third.
Record copy_rows(Index count, bool interleaved) {
  constexpr Index c = 16;
  const Index d = c / count;
  Rng rng(3, "two layouts");
  const AttentionConfig config{.width = c, .heads = count};
  SeparateHeads separate(config, rng);
  FusedHeads fused(config, rng);
  const Array random = fused.in_proj_weight.value().clone();
  transplant(separate, fused);  // what is no row of a head is copied first
  const Array goal = fused.in_proj_weight.value().clone();
  fused.in_proj_weight.set_value(random);
  const Tensor x(normal({batch, 6, c}, 1, rng));
  const auto distance = [&] {
    const auto output = [&](const Attention& layer) {
      return layer(x, x, AttentionMask::none()).value();
    };
    return relative_difference(output(separate), output(fused));
  };
  Record distances{distance()};
  for (Index head = 0; head < count; ++head) {
    for (Index third = 0; third < 3; ++third) {
      for (Index row = 0; row < d; ++row) {
        const Index from = third * c + head * d + row;
        const Index to = interleaved ? third * c + row * count + head : from;
        Array& matrix = fused.in_proj_weight.edit_value();
        for (Index i = 0; i < c; ++i) matrix[to * c + i] = goal[from * c + i];
        distances.push_back(distance());
      }
    }
  }
  return distances;
}

void write_rows() {
  if (!figure_wanted()) return;
  Record layers = Record::array();
  for (const Index count : {1, 2, 4}) {
    Rng rng(3, "two layouts");
    const AttentionConfig config{.width = 16, .heads = count};
    layers.push_back({{"heads", count},
                      {"separate", places_of(SeparateHeads(config, rng))},
                      {"fused", places_of(FusedHeads(config, rng))},
                      {"blocked", copy_rows(count, false)},
                      {"interleaved", copy_rows(count, true)}});
  }
  write_figure({{"width", 16}, {"layers", layers}});
}

}  // namespace

int main() {
  fact("width", width);
  part("07/a");
  compare_layouts();
  part("07/b");
  close_a_head();
  part("07/c", "07/d");
  claim("leak good", leak(2, composed::merge_heads), 0, 0);
  claim("leak bad", leak(2, merge_without_swap), 0.1, 10, "07/c");
  claim("leak bad, one head", leak(1, merge_without_swap), 0, 0, "07/d");
  write_rows();
  return finish();
}
