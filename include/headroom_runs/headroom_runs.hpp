// Training runs that are kept in a folder, and their records (target headroom_runs). For programs.
#pragma once

#include "headroom_runs/records/attention_record.hpp"
#include "headroom_runs/records/head_lives.hpp"
#include "headroom_runs/records/head_records.hpp"
#include "headroom_runs/records/model_record.hpp"
#include "headroom_runs/runs/folds.hpp"
#include "headroom_runs/runs/load_learner.hpp"
#include "headroom_runs/runs/manifest.hpp"
#include "headroom_runs/runs/metrics_log.hpp"
#include "headroom_runs/runs/progress.hpp"
#include "headroom_runs/runs/pruning_parts.hpp"
#include "headroom_runs/runs/run_folder.hpp"
#include "headroom_runs/runs/run_record.hpp"
#include "headroom_runs/runs/telemetry.hpp"
#include "headroom_runs/runs/training_run.hpp"
#include "headroom_runs/runs/training_settings.hpp"
