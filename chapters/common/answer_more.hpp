// Declarations that answers about models, training and removal need besides those of answer.hpp.
// The runner precompiles this header for the exercises that include one of these folders. With it,
// the compilation of any other answer would take 0.1 s longer.
#pragma once

#include <map>
#include <set>
#include <span>

#include "common/answer.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/nn/decoding.hpp"
#include "headroom/nn/gates.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/nn/transformer.hpp"
#include "headroom/optim/optimizer.hpp"
#include "headroom/surgery/regrowth.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "headroom_measure/importance/head_metric.hpp"
