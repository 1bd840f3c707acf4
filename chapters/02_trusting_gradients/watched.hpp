// A function that watches how a gradient check asks it: where it is evaluated, and from which dL/dy
// its backward pass starts.
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "common/checks.hpp"
#include "headroom/autograd/gradcheck.hpp"

namespace chapter {

using Tensors = std::vector<Tensor>;
using Arrays = std::vector<Array>;
using Function = std::function<Tensor(const Tensors&)>;

/// How a function was asked by one backward pass.
struct Question {
  Array dy;
  Arrays before;  // the gradients of the inputs when the pass reached them
};

/// A function that keeps what it was asked.
class Watched {
 public:
  Watched(Function function, const Arrays& inputs) : function_(std::move(function)) {
    for (const Array& input : inputs) {
      inputs_.push_back(input.clone());
      handles_.push_back(input);
      moves_.emplace_back(std::size_t(input.size()), 0.0);
    }
  }

  headroom::GradcheckResult result(const headroom::GradcheckOptions& options = {}) {
    return gradcheck([this](const Tensors& x) { return call(x); }, handles_, options);
  }
  const std::vector<Question>& questions() const { return questions_; }
  /// The longest move of an element.
  double move_of(std::size_t input, Index element) const {
    return moves_[input][std::size_t(element)];
  }
  bool moved_in_place() const { return moved_in_place_; }
  const Arrays& inputs() const { return inputs_; }

  /// A reason why faults get through, from the questions that were asked; "" if there is none.
  std::string blindness() const {
    if (questions_.empty()) return "\nNo backward pass was made.";
    bool all_the_same = true, one_alone = true, never_before = true;
    for (const Question& pass : questions_) {
      Index nonzero = 0;
      for (Index i = 0; i < pass.dy.size(); ++i) {
        all_the_same = all_the_same && pass.dy[i] == pass.dy[0];
        nonzero += pass.dy[i] != 0 ? 1 : 0;
      }
      one_alone = one_alone && nonzero == 1 && pass.dy.size() > 1;
      for (const Array& before : pass.before) {
        for (Index i = 0; i < before.size(); ++i) never_before = never_before && before[i] == 0;
      }
    }
    if (questions_[0].dy.size() > 1 && all_the_same) {
      return "\nIt looks as if dL/dy is the same for all elements of y: that asks about their sum "
             "alone, and the sum of a softmax never moves.";
    }
    if (one_alone) {
      return "\nIt looks as if only element 0 of y was asked about: dL/dy is 0 for all others.";
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      Index count = 0;
      for (const double move : moves_[i]) count += move > 0 ? 1 : 0;
      if (count == 0) return fmt::format("\nNo element of input {} was ever moved.", i);
      if (count == 1 && inputs_[i].size() > 1) {
        return fmt::format("\nOnly one element of input {} was ever moved.", i);
      }
    }
    if (never_before) {
      return "\nIt looks as if no input had a gradient before a pass: check a second time, on top "
             "of gradients that are there, as in every training that sums two losses.";
    }
    return "";
  }

 private:
  Tensor call(const Tensors& x) {
    const bool tracked = x[0].requires_grad();
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (Index e = 0; e < x[i].size(); ++e) {
        const double move = std::abs(double(x[i].value()[e]) - double(inputs_[i][e]));
        moves_[i][std::size_t(e)] = std::max(moves_[i][std::size_t(e)], move);
        if (move > 0 && x[i].value().same_buffer(handles_[i])) moved_in_place_ = true;
      }
    }
    Tensor y = function_(x);
    if (tracked && y.requires_grad()) {
      y.on_gradient([this, x](Array& dy) {
        Arrays before;
        for (const Tensor& leaf : x) {
          before.push_back(leaf.grad().defined() ? leaf.grad().clone()
                                                 : headroom::zeros(leaf.shape()));
        }
        questions_.push_back({dy.clone(), before});
      });
    }
    return y;
  }

  Function function_;
  Arrays inputs_, handles_;
  std::vector<std::vector<double>> moves_;
  std::vector<Question> questions_;
  bool moved_in_place_ = false;
};

}  // namespace chapter
