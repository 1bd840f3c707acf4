// Statistics of measured numbers: intervals, order, correlation, comparisons.
#pragma once

#include "headroom/statistics/contrasts.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom/statistics/ranks.hpp"
