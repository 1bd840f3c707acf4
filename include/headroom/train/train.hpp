// Training: the loop, evaluation, metrics, checkpoints.
#pragma once

#include "headroom/train/checkpoint.hpp"
#include "headroom/train/evaluation.hpp"
#include "headroom/train/learner.hpp"
#include "headroom/train/measures.hpp"
#include "headroom/train/metrics_log.hpp"
#include "headroom/train/objectives.hpp"
#include "headroom/train/progress.hpp"
#include "headroom/train/run_folder.hpp"
#include "headroom/train/run_record.hpp"
#include "headroom/train/step_part.hpp"
#include "headroom/train/stop_signals.hpp"
#include "headroom/train/telemetry.hpp"
#include "headroom/train/trainer.hpp"
#include "headroom/train/training_loop.hpp"
#include "headroom/train/training_run.hpp"
#include "headroom/train/training_settings.hpp"
