// The whole library, floor by floor, lowest first. For programs; the bridge headroom/xtensor.hpp is
// apart, since it needs xtensor.
#pragma once

#include "headroom/array/array.hpp"
#include "headroom/autograd/autograd.hpp"
#include "headroom/base/base.hpp"
#include "headroom/data/data.hpp"
#include "headroom/heads/heads.hpp"
#include "headroom/io/io.hpp"
#include "headroom/lab/lab.hpp"
#include "headroom/nn/nn.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/optim.hpp"
#include "headroom/report/attend.hpp"
#include "headroom/report/lab.hpp"
#include "headroom/report/report.hpp"
#include "headroom/report/terminal.hpp"
#include "headroom/train/train.hpp"
