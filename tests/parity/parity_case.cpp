// Reading a parity case and comparing with it.
#include "parity/parity_case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headroom/base/error.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace parity {

namespace {

/// |actual - expected| <= max(rtol * max|expected|, atol)
struct Tolerance {
  double rtol, atol;
  double key_bias;  // absolute, for gradients of key biases
};

Tolerance tolerance_of(const std::string& kind, const std::string& tensor) {
  if constexpr (is_double) return {1e-10, 1e-11, 1e-11};
  static const std::set<std::string> deep{"encoder_layer",  "decoder_layer", "transformer",
                                          "language_model", "train",         "bert_attention",
                                          "gpt2_model"};
  static const std::set<std::string> folders{"bert_model", "bert_mlm", "bert_classifier", "gpt2_lm",
                                             "marian_mt"};
  const bool wide = deep.contains(kind) || (folders.contains(kind) && tensor.starts_with("grad."));
  return {wide ? 2e-5 : 5e-6, 3e-6, 1e-5};
}

/// Elements [begin, end) of a tensor of the file that belong to a key bias. It has no effect on the
/// function: its gradient is rounding noise, and Adam makes steps of it.
struct Range {
  Index begin = 0, end = 0;
  bool holds(Index i) const { return begin <= i && i < end; }
};

Range key_bias_of(const std::string& name, Index size) {
  if (name.ends_with("in_proj_bias") || name.ends_with("c_attn.bias")) {
    return {size / 3, 2 * size / 3};
  }
  const bool own = name.find("param.key.") != std::string::npos ||
                   name.ends_with("self.key.bias") || name.ends_with("k_proj.bias") ||
                   name.ends_with("W_k.bias");
  if (own && name.ends_with(".bias")) return {0, size};
  return {};
}

std::vector<Index> position(Index element, const Shape& shape) {
  std::vector<Index> at(static_cast<std::size_t>(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    at[static_cast<std::size_t>(axis)] = element % shape[axis];
    element /= shape[axis];
  }
  return at;
}

/// The model's parameters under the file's names: those listed, and the others under their own.
std::vector<ParameterName> complete(Module& model, const std::vector<ParameterName>& names) {
  std::vector<ParameterName> all = names;
  for (const auto& [name, tensor] : parameters(model)) {
    const bool listed = std::any_of(names.begin(), names.end(),
                                    [&, &ours = name](const auto& n) { return n.ours == ours; });
    if (!listed) all.push_back({name, name});
  }
  return all;
}

Tensor find(const std::vector<NamedParameter>& list, const std::string& name) {
  for (const NamedParameter& parameter : list) {
    if (parameter.name == name) return parameter.tensor;
  }
  throw UsageError("the model has no parameter " + name);
}

}  // namespace

Array rows_of(const Array& array, Index begin, Index count) {
  if (count < 0) return array;
  Array rows(array.shape().with(0, count));
  const Index each = rows.size() / count;
  std::copy_n(array.data() + begin * each, rows.size(), rows.data());
  return rows;
}

Case::Case(const std::filesystem::path& path) : path_(path), file_(TensorFile::read(path)) {
  kind_ = file_.metadata["kind"];
  config_ = parse_json(file_.metadata["config"], path.string());
}

void Case::begin_run() {
  used_.clear();
  compared_.clear();
  nudge_.reset();
}

void Case::begin_nudged_run(std::uint64_t seed) {
  used_.clear();
  nudge_ = Rng(seed);
}

Array Case::array(const std::string& name) {
  use(name);
  Array numbers = file_.array(name);
  if (!name.starts_with("cot.")) nudge(numbers);  // cotangents are of the question, not of f(x)
  return numbers;
}

void Case::nudge(Array& numbers) {
  if (!nudge_) return;
  constexpr Real highest = std::numeric_limits<Real>::max(), lowest = -highest;
  for (Real& x : numbers.span()) {
    const double u = nudge_->uniform();  // a third each: down, up, as it is
    if (u < 2.0 / 3) x = std::nextafter(x, u < 1.0 / 3 ? lowest : highest);
  }
}

void Case::nudge(Module& model) {
  for (auto& [name, tensor] : parameters(model)) nudge(tensor.edit_value());
}

Tensor Case::input(const std::string& name) { return parameter(array("in." + name)); }

Ids Case::ids(const std::string& name) {
  use("in." + name);
  return file_.ids("in." + name);
}

Bytes Case::bytes(const std::string& name) {
  use("in." + name);
  return file_.bytes("in." + name);
}

std::map<std::string, Array> Case::arrays(const std::string& prefix) {
  std::map<std::string, Array> found;
  for (const std::string& name : file_.names()) {
    if (name.starts_with(prefix)) found[name.substr(prefix.size())] = array(name);
  }
  return found;
}

Shape Case::parameter_shape(const std::string& name) const {
  return file_.tensor("param." + name).shape;
}

void Case::load(Module& model, const std::vector<ParameterName>& names) {
  const auto targets = parameters(model);
  for (const auto& [theirs, ours, begin, count] : complete(model, names)) {
    const Array value = array("param." + theirs);
    Tensor target = find(targets, ours);
    if (!(rows_of(target.value(), begin, count).shape() == value.shape())) {
      throw ShapeError("param." + theirs + " " + value.shape().text() + " does not fit " + ours +
                       " " + target.shape().text());
    }
    const Index each = value.dim(0) == 0 ? 0 : value.size() / value.dim(0);
    std::copy_n(value.data(), value.size(), target.edit_value().data() + begin * each);
  }
}

void Case::compare_outputs(std::span<const Output> outputs) {
  for (const auto& [name, tensor] : outputs) compare("out." + name, tensor.value());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool more = i + 1 < outputs.size();
    outputs[i].tensor.backward(array("cot." + outputs[i].name), more);
  }
}

void Case::compare_gradient(const std::string& name, const Tensor& input) {
  compare("grad.in." + name, input.grad());
}

void Case::compare_gradients(Module& model, const std::vector<ParameterName>& names) {
  const auto sources = parameters(model);
  for (const auto& [theirs, ours, begin, count] : complete(model, names)) {
    const Array& gradient = find(sources, ours).grad();
    if (!gradient.defined()) throw UsageError(ours + " has no gradient");
    compare("grad.param." + theirs, rows_of(gradient, begin, count));
  }
}

void Case::compare_after(Module& model) {
  for (const auto& [name, tensor] : parameters(model)) compare("after." + name, tensor.value());
}

void Case::compare(const std::string& name, const Array& actual) {
  double largest = 0;
  for (const double value : file_.doubles(name)) largest = std::max(largest, std::abs(value));
  const Tolerance tolerance = tolerance_of(kind_, name);
  compare_within(name, actual, std::max(tolerance.rtol * largest, tolerance.atol),
                 tolerance.key_bias);
}

void Case::compare_exactly(const std::string& name, const Array& actual) {
  compare_within(name, actual, 0, 0);
}

void Case::compare_within(const std::string& name, const Array& actual, double allowed,
                          double key_bias_allowed) {
  use(name);
  const Shape& shape = file_.tensor(name).shape;
  if (!(actual.shape() == shape)) {
    throw ShapeError(name + ": expected " + shape.text() + ", got " + actual.shape().text());
  }
  if (!nudge_) {
    compared_[name] = {actual.clone(), allowed, key_bias_allowed};
    return;
  }
  Comparison& before = compared_.at(name);
  if (before.allowed == 0) return;  // exactly is exactly
  const Range key_bias = key_bias_of(name, actual.size());
  for (Index i = 0; i < actual.size(); ++i) {
    if (key_bias.holds(i)) continue;  // noise, which is no measure for the others
    const double moved = std::abs(double(actual[i] - before.actual[i]));
    if (std::isfinite(moved)) before.moved = std::max(before.moved, moved);
  }
}

template <class Visit>
void Case::each(const std::string& name, const Comparison& comparison, const Visit& visit) const {
  const Array& actual = comparison.actual;
  const std::vector<double> expected = file_.doubles(name);
  const Range key_bias = key_bias_of(name, actual.size());
  for (Index i = 0; i < actual.size(); ++i) {
    if (key_bias.holds(i) && name.starts_with("after.")) continue;
    visit(i, double(actual[i]), expected[static_cast<std::size_t>(i)], key_bias.holds(i));
  }
}

Worst Case::worst_of(const std::string& name, const Comparison& comparison, double allowed) const {
  Worst worst;
  worst.name = name;
  worst.moved = comparison.moved;
  each(name, comparison, [&](Index i, double actual, double expected, bool in_key_bias) {
    const double difference = std::abs(actual - expected);
    double used = 0;  // where nothing differs, nothing need be allowed
    if (difference != 0) used = difference / (in_key_bias ? comparison.key_bias_allowed : allowed);
    if (std::isnan(used)) used = std::numeric_limits<double>::infinity();
    if (used <= worst.used) return;
    worst.used = used;
    worst.difference = difference;
    worst.expected = expected;
    worst.actual = actual;
    worst.at = position(i, comparison.actual.shape());
  });
  return worst;
}

double Case::largest_difference() const {
  double largest = 0;
  for (const auto& [name, comparison] : compared_) {
    each(name, comparison, [&](Index, double actual, double expected, bool) {
      largest = std::max(largest, std::abs(actual - expected));
    });
  }
  return largest;
}

std::vector<Worst> Case::off() const {
  std::vector<Worst> off;
  for (const auto& [name, comparison] : compared_) {
    Worst worst = worst_of(name, comparison, comparison.allowed);
    if (worst.used > 1) off.push_back(std::move(worst));
  }
  std::sort(off.begin(), off.end(), [](const Worst& a, const Worst& b) { return a.used > b.used; });
  return off;
}

bool Case::undecided() const {
  const std::vector<Worst> off = this->off();
  return !off.empty() && std::all_of(off.begin(), off.end(), [&](const Worst& worst) {
    const Comparison& comparison = compared_.at(worst.name);
    const double movable = std::max(comparison.allowed, 2 * comparison.moved);
    return worst_of(worst.name, comparison, movable).used <= 1;
  });
}

std::vector<std::string> Case::left_over() const {
  std::vector<std::string> names;
  for (const std::string& name : file_.names()) {
    if (!used_.contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace parity
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
