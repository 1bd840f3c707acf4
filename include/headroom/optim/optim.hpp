// Optimizers, clipping and learning rate schedules.
#pragma once

#include "headroom/optim/adam.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/optim/lamb.hpp"
#include "headroom/optim/make_optimizer.hpp"
#include "headroom/optim/muon.hpp"
#include "headroom/optim/optimizer.hpp"
#include "headroom/optim/orthogonalise.hpp"
#include "headroom/optim/parameter_blocks.hpp"
#include "headroom/optim/rate.hpp"
#include "headroom/optim/sgd.hpp"
