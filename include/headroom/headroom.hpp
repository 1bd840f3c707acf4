// All headers of the engine (target headroom). For programs. What is built on it has headers of its
// own: headroom_measure/headroom_measure.hpp, headroom_runs/headroom_runs.hpp and
// headroom_lab/headroom_lab.hpp; the bridge headroom/xtensor.hpp is separate: it needs xtensor.
#pragma once

#include "headroom/algebra/algebra.hpp"
#include "headroom/algebra/part_sums.hpp"
#include "headroom/array/array.hpp"
#include "headroom/array/print.hpp"
#include "headroom/autograd/autograd.hpp"
#include "headroom/base/base.hpp"
#include "headroom/data/data.hpp"
#include "headroom/io/io.hpp"
#include "headroom/nn/nn.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/optim.hpp"
#include "headroom/statistics/statistics.hpp"
#include "headroom/surgery/surgery.hpp"
#include "headroom/train/train.hpp"
