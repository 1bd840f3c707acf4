// Studies: declared comparisons of ways to remove heads, over seeds, with controls.
#pragma once

#include "headroom_lab/study/declaration.hpp"
#include "headroom_lab/study/latency.hpp"
#include "headroom_lab/study/pieces.hpp"
#include "headroom_lab/study/plan.hpp"
#include "headroom_lab/study/provenance.hpp"
#include "headroom_lab/study/results.hpp"
#include "headroom_lab/study/run.hpp"
#include "headroom_lab/study/work.hpp"
