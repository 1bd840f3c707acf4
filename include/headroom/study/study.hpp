// Studies: declared comparisons of ways to remove heads, over seeds, with controls.
#pragma once

#include "headroom/study/declaration.hpp"
#include "headroom/study/plan.hpp"
#include "headroom/study/results.hpp"
#include "headroom/study/run.hpp"
