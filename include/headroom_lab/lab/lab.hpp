// The laboratory: questions about multi-head attention, answered by running code.
#pragma once

#include "headroom_lab/blocks/text.hpp"
#include "headroom_lab/lab/ask.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/formula.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "headroom_lab/lab/lab_record.hpp"
#include "headroom_lab/lab/notebook.hpp"
