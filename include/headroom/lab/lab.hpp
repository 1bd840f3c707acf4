// The laboratory: questions about multi-head attention, answered by running code.
#pragma once

#include "headroom/lab/ask.hpp"
#include "headroom/lab/experiment.hpp"
#include "headroom/lab/formula.hpp"
#include "headroom/lab/lab_record.hpp"
#include "headroom/lab/notebook.hpp"
#include "headroom/lab/text.hpp"
