// Operations on heads: transplanting, measuring their importance, removing them.
#pragma once

#include "headroom/heads/attention_record.hpp"
#include "headroom/heads/drop_head.hpp"
#include "headroom/heads/fold_gates.hpp"
#include "headroom/heads/head_game.hpp"
#include "headroom/heads/head_metric.hpp"
#include "headroom/heads/head_records.hpp"
#include "headroom/heads/head_scores.hpp"
#include "headroom/heads/head_share.hpp"
#include "headroom/heads/layout_conversion.hpp"
#include "headroom/heads/metric_agreement.hpp"
#include "headroom/heads/model_record.hpp"
#include "headroom/heads/pruner.hpp"
#include "headroom/heads/pruning.hpp"
#include "headroom/heads/shapley.hpp"
#include "headroom/heads/training_scores.hpp"
#include "headroom/heads/transplant.hpp"
