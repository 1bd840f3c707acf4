// Statistics of measured numbers: intervals, order, correlation.
#pragma once

#include "headroom/statistics/intervals.hpp"
#include "headroom/statistics/ranks.hpp"
