// All headers of the floor train.
#pragma once

#include "headroom/train/best_so_far.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom/train/evaluation.hpp"
#include "headroom/train/gate_gradients.hpp"
#include "headroom/train/learner.hpp"
#include "headroom/train/measures.hpp"
#include "headroom/train/objectives.hpp"
#include "headroom/train/step_part.hpp"
#include "headroom/train/stop_signals.hpp"
#include "headroom/train/trainer.hpp"
#include "headroom/train/training_loop.hpp"
