// Optimizers, clipping and schedules of the rate.
#pragma once

#include "headroom/optim/adam.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/optim/optimizer.hpp"
#include "headroom/optim/rate.hpp"
#include "headroom/optim/sgd.hpp"
