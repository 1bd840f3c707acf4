// Every optimizer with every granularity, for tests that hold for all of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "headroom/base/names.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/lamb.hpp"
#include "headroom/optim/muon.hpp"
#include "headroom/optim/sgd.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

struct OptimizerCase {
  std::string name;
  bool by_element;          // treats every element alike
  Granularity granularity;  // of the others
  std::function<std::unique_ptr<Optimizer>(Module&)> make;
};

inline std::vector<OptimizerCase> all_optimizers() {
  const Granularity none = Granularity::tensor;
  std::vector<OptimizerCase> list{
      {"sgd", true, none,
       [](Module& m) { return std::make_unique<Sgd>(m, SgdOptions{.momentum = 0}); }},
      {"momentum", true, none,
       [](Module& m) {
         return std::make_unique<Sgd>(m, SgdOptions{.momentum = 0.9, .weight_decay = 0.01});
       }},
      {"adam", true, none, [](Module& m) { return std::make_unique<Adam>(m); }},
      {"adamw", true, none, [](Module& m) { return std::make_unique<AdamW>(m); }}};
  for (const Granularity granularity : all_of<Granularity>()) {
    const std::string per = std::string(" per ") + name_of(granularity);
    list.push_back({"lamb" + per, false, granularity, [granularity](Module& m) {
                      return std::make_unique<Lamb>(
                          m, LambOptions{.weight_decay = 0.01, .granularity = granularity});
                    }});
    list.push_back({"muon" + per, false, granularity, [granularity](Module& m) {
                      return std::make_unique<Muon>(
                          m, MuonOptions{.weight_decay = 0.01, .granularity = granularity});
                    }});
  }
  return list;
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
