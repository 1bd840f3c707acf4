// Readings of every head from one training step.
#include "headroom_runs/runs/telemetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "headroom/algebra/part_sums.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/op_scope.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/train/gate_gradients.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A head's blocks in the order of HeadReading.
constexpr std::array blocks = {&BlockNumbers::query, &BlockNumbers::key, &BlockNumbers::value,
                               &BlockNumbers::output};

/// Index of a role among the four blocks; none for biases.
std::optional<std::size_t> block_of(HeadRole role) {
  switch (role) {
    case HeadRole::query: return 0;
    case HeadRole::key: return 1;
    case HeadRole::value: return 2;
    case HeadRole::output: return 3;
    default: return {};
  }
}

Index size_of(const BlockPart& part, const Shape& shape) {
  return shape.size() / shape[part.axis] * part.length();
}

/// A sum and how many were added.
struct Mean {
  double sum = 0;
  Index count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return sum / double(count); }
};

/// More digits would fill the disk with noise.
double rounded(double value) { return rounded_number(value, 6); }

/// The places of heads in parameters: full name -> (owner of a slice, its begin).
using Places = std::map<std::string, std::set<std::pair<std::string, Index>>>;

Places places_of(Module& model) {
  Places places;
  for (const NamedAttention& found : attentions(model)) {
    for (const HeadSlice& slice : found.attention->head_slices()) {
      const std::string name = found.full_name(slice.name);
      places[name].insert({slice.owner_text(), slice.begin});
    }
  }
  return places;
}

}  // namespace

HeadTelemetry::HeadTelemetry(Module& model, Index every) : model_(&model), every_(every) {
  if (every < 0) {
    throw UsageError(
        fmt::format("telemetry: an interval of {} steps is negative; 0 turns it off", every));
  }
}

void HeadTelemetry::begin(Index step, HeadProbe& probe) {
  const bool measured = every_ > 0 && step % every_ == 0;
  step_ = measured ? step : 0;
  if (!measured) return;
  probe.rows = true;
  probe_ = &probe;
}

void HeadTelemetry::after_backward() {
  if (step_ == 0) return;
  const OpScope op("telemetry");
  readings_.clear();
  for (const HeadId& head : live_heads(*model_)) readings_.push_back({.head = head});
  const std::vector<double> of_gates = gate_gradients(*model_);
  for (std::size_t i = 0; i < readings_.size(); ++i) readings_[i].gate_gradient = of_gates[i];
  find_blocks();
  read_rows();
  for_each_block([](const Block& block, HeadReading& reading) {
    const Array& gradient = block.parameter.grad();
    if (!gradient.defined()) return;
    reading.gradient_norm[block.role] = std::sqrt(part_dot(block.part, gradient, gradient));
  });
  // At most two products and two sums per element of a gradient, which is read; the value is read
  // and copied.
  op.work(double(4 * elements_), double(3 * elements_ * Index{sizeof(Real)}));
}

void HeadTelemetry::after_update(StepReport& report) {
  if (step_ == 0) return;
  const OpScope op("telemetry");
  // Another part may have removed heads after the update or swapped them, and so moved elements.
  const bool same_heads =
      std::ranges::equal(live_heads(*model_), readings_, {}, {}, &HeadReading::head);
  const Places places = same_heads ? Places() : places_of(*model_);
  for_each_block([&](const Block& block, HeadReading& reading) {
    const auto now = places.find(block.part.name);
    if (!(block.parameter.value().shape() == block.before.shape()) ||
        (now != places.end() && !now->second.contains({block.owner, block.part.begin}))) {
      reading.update_ratio[block.role] = std::nan("");
      return;
    }
    const double moved = part_squared_distance(block.part, block.parameter.value(), block.before);
    const double before = part_dot(block.part, block.before, block.before);
    reading.update_ratio[block.role] = std::sqrt(moved / before);
  });
  op.work(double(5 * elements_), double(2 * elements_ * Index{sizeof(Real)}));
  blocks_.clear();
  if (!readings_.empty()) report.lines.push_back(json_of(line(step_, readings_)));
  step_ = 0;
}

template <class Visit>
void HeadTelemetry::for_each_block(Visit visit) {
  const auto count = Index(blocks_.size());
  const Index grain = grain_for(elements_ / std::max<Index>(1, count));
  parallel_for(count, grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Block& block = at(blocks_, i);
      visit(block, readings_[block.reading]);
    }
  });
}

/// Lists the blocks of all live heads, and copies the parameters that they are part of.
void HeadTelemetry::find_blocks() {
  blocks_.clear();
  elements_ = 0;
  std::map<std::string, Tensor> tensors;
  for (const NamedParameter& parameter : parameters(*model_)) {
    tensors[parameter.name] = parameter.tensor;
  }
  std::map<std::string, Array> copies;
  std::size_t first = 0;  // reading of the attention's first live head
  for (const NamedAttention& found : attentions(*model_)) {
    const auto alive = found.attention->alive();
    for (const HeadSlice& slice : found.attention->head_slices()) {
      const auto role = block_of(slice.role);
      if (!role) continue;
      const std::string name = found.full_name(slice.name);
      const Tensor& parameter = tensors.at(name);
      Array& copy = copies[name];
      if (!copy.defined()) copy = parameter.value().clone();
      for (std::size_t i = 0; i < alive.size(); ++i) {
        if (slice.head != HeadSlice::of_all && !slice.belongs_to(alive[i])) continue;
        blocks_.push_back({first + i, *role, slice.owner_text(), parameter, {slice, name}, copy});
        elements_ += size_of(blocks_.back().part, copy.shape());
      }
    }
    first += alive.size();
  }
}

/// Entropy and confidence from what the forward pass left in the probe; padding is left out.
void HeadTelemetry::read_rows() {
  auto reading = readings_.begin();
  for (const NamedAttention& found : attentions(*model_)) {
    const auto live = Index(found.attention->alive().size());
    if (live == 0) continue;
    const auto seen = probe_->seen.find(found.location());
    if (seen == probe_->seen.end() || !seen->second.rows.entropy.defined()) {
      throw UsageError("telemetry: the loss did not give the probe to the model's forward pass");
    }
    const AttentionRows& rows = seen->second.rows;
    const auto lengths = probe_->query_lengths.find(found.location().kind);
    const Index batch = rows.entropy.dim(0), queries = rows.entropy.dim(2);
    for (Index head = 0; head < live; ++head, ++reading) {
      Mean entropy, confidence;
      for (Index b = 0; b < batch; ++b) {
        const Index real = lengths == probe_->query_lengths.end() ? queries : lengths->second[b];
        for (Index row = (b * live + head) * queries, end = row + real; row < end; ++row) {
          const std::int32_t allowed = rows.allowed[row];
          if (allowed >= 1) confidence.add(double(rows.maximum[row]));
          if (allowed >= 2) {
            entropy.add(double(rows.entropy[row]) / std::log(double(allowed)));
          }
        }
      }
      reading->entropy = entropy.value();
      reading->confidence = confidence.value();
    }
  }
  probe_ = nullptr;  // it ends with the backward pass
}

TelemetryLine HeadTelemetry::line(Index step, const std::vector<HeadReading>& readings) {
  const auto block = [](BlockNumbers& numbers, const std::array<double, 4>& of_head) {
    for (std::size_t i = 0; i < of_head.size(); ++i)
      (numbers.*blocks[i]).push_back(rounded(of_head[i]));
  };
  TelemetryLine line{.step = step};
  for (const HeadReading& reading : readings) {
    line.heads.push_back(reading.head);
    block(line.gradient_norm, reading.gradient_norm);
    line.gate_gradient.push_back(rounded(reading.gate_gradient));
    line.entropy.push_back(rounded(reading.entropy));
    line.confidence.push_back(rounded(reading.confidence));
    block(line.update_ratio, reading.update_ratio);
  }
  return line;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
