// Which heads matter, and removing them (target headroom_measure): metrics, choosers, games, the
// pruner, learned gates. For programs.
#pragma once

#include "headroom_measure/importance/budget.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "headroom_measure/importance/head_game.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "headroom_measure/importance/head_scores.hpp"
#include "headroom_measure/importance/metric_agreement.hpp"
#include "headroom_measure/importance/metric_names.hpp"
#include "headroom_measure/importance/regret.hpp"
#include "headroom_measure/importance/shapley.hpp"
#include "headroom_measure/importance/task_check.hpp"
#include "headroom_measure/pruning/compensation.hpp"
#include "headroom_measure/pruning/gate_methods.hpp"
#include "headroom_measure/pruning/learned_gates.hpp"
#include "headroom_measure/pruning/model_cut.hpp"
#include "headroom_measure/pruning/pruner.hpp"
#include "headroom_measure/pruning/pruning_history.hpp"
#include "headroom_measure/pruning/pruning_recipe.hpp"
#include "headroom_measure/pruning/regrowth_choice.hpp"
#include "headroom_measure/pruning/schedules.hpp"
#include "headroom_measure/pruning/training_scores.hpp"
