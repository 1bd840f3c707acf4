// All differentiable operations.
#pragma once

#include "headroom/ops/activations.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/attention.hpp"
#include "headroom/ops/blas.hpp"
#include "headroom/ops/composed.hpp"
#include "headroom/ops/dropout.hpp"
#include "headroom/ops/embedding.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/ops/matmul.hpp"
#include "headroom/ops/normalisation.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/ops/shaping.hpp"
#include "headroom/ops/softmax.hpp"
