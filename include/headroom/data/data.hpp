// Tasks, tokens and batches.
#pragma once

#include "headroom/data/batch_plan.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/data/embedded_tasks.hpp"
#include "headroom/data/file_tasks.hpp"
#include "headroom/data/metrics.hpp"
#include "headroom/data/task.hpp"
#include "headroom/data/text_lines.hpp"
#include "headroom/data/tokenizer.hpp"
#include "headroom/data/vocabulary.hpp"
