//! title: the metric leave_one_out
//! replaces: headroom::metric_leave_one_out
//! minutes: 15
//! difficulty: 1
//! needs: 11/1
//! hint: How many different sets of heads do you need the loss of, if there are 12 heads? Which one
//!   do all scores have in common?
//! hint: First the loss of the whole model. Then for each player: the loss of the set of all
//!   others, minus the first. Every set starts from game.all(); the player that was missing is back
//!   for the next one.
//! hint: const double whole = game.value(game.all()); for each i below game.size():
//!   scores_.push_back(game.value(game.all().without(i)) - whole).
//! after: N + 1 passes for N heads. That is the price of certainty; the next exercise asks for all
//!   heads at once, by one backward pass.
// Exercise 11/2, leave_one_out: take one head away, and look at the loss.
#include "2_leave_one_out.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

class LeaveOneOut : public HeadMetric {
 public:
  bool plays() const override { return true; }
  void play(HeadGame& game) override {
    //! solution
    const double whole = game.value(game.all());
    for (Index i = 0; i < game.size(); ++i) {
      scores_.push_back(game.value(game.all().without(i)) - whole);
    }
    //! skeleton
    // const double whole = chapter::todo("whole: the loss of the whole model");
    // for (Index i = 0; i < game.size(); ++i) {
    //   scores_.push_back(chapter::todo("the loss without head i, minus whole", whole));
    // }
    //! mistake cumulative: the heads before it were still missing when a head was taken away: start
    //!   from game.all() each time
    // HeadSet present = game.all();
    // for (Index i = 0; i < game.size(); ++i) {
    //   const double before = game.value(present);
    //   present = present.without(i);
    //   scores_.push_back(game.value(present) - before);
    // }
    //! mistake all_gone_so_far: the heads before it were missing, too, when a head was taken away:
    //!   start from game.all() each time
    //+ HeadSet present = game.all();
    //  for (Index i = 0; i < game.size(); ++i) {
    //-   scores_.push_back(game.value(game.all().without(i)) - whole);
    //+   present = present.without(i);
    //+   scores_.push_back(game.value(present) - whole);
    //! mistake loss_only: the loss of the whole model was not subtracted
    // for (Index i = 0; i < game.size(); ++i) {
    //   scores_.push_back(game.value(game.all().without(i)));
    // }
    //! wrong gain: The sign is flipped
    //- scores_.push_back(game.value(game.all().without(i)) - whole);
    //+ scores_.push_back(whole - game.value(game.all().without(i)));
    //! mistake alone: all other heads were missing: that is how much a head does alone, not how
    //!   much it is missed
    // const double none = game.value(HeadSet());
    // for (Index i = 0; i < game.size(); ++i) {
    //   scores_.push_back(none - game.value(HeadSet().with(i)));
    // }
    //! mistake absolute: the sign was dropped: a head whose removal lowers the loss is harmful, not
    //!   important
    //- scores_.push_back(game.value(game.all().without(i)) - whole);
    //+ scores_.push_back(std::abs(game.value(game.all().without(i)) - whole));
    //! mistake original_number: heads were taken by their number in their layer: players are
    //!   numbered through all layers
    // const double whole = game.value(game.all());
    // for (const HeadId& head : game.players()) {
    //   scores_.push_back(game.value(game.all().without(head.head)) - whole);
    // }
    //! wrong forgetful: 18 passes over the examples
    // for (Index i = 0; i < game.size(); ++i) {
    //   const std::vector<double> less = game.example_losses(game.all().without(i)),
    //                             whole = game.example_losses(game.all());
    //   double sum = 0;
    //   for (std::size_t x = 0; x < whole.size(); ++x) sum += less[x] - whole[x];
    //   scores_.push_back(sum / double(whole.size()));
    // }
    //! end
  }
  std::vector<double> scores() const override { return scores_; }

 private:
  std::vector<double> scores_;
};

}  // namespace

MetricEntry metric_leave_one_out() {
  return {{.name = "leave_one_out",
           .formula = "v(all but h) - v(all)",
           .source = "Michel, Levy and Neubig 2019, section 3.2",
           .cost = "N F"},
          [] { return std::make_unique<LeaveOneOut>(); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
