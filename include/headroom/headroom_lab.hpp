// The laboratory (target headroom_lab): experiments, studies, pages and terminal texts. For
// programs.
#pragma once

#include "headroom/lab/lab.hpp"
#include "headroom/report/attend.hpp"
#include "headroom/report/lab.hpp"
#include "headroom/report/report.hpp"
#include "headroom/report/study.hpp"
#include "headroom/report/terminal.hpp"
#include "headroom/study/study.hpp"
