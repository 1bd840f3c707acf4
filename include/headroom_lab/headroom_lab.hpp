// The laboratory (target headroom_lab): experiments, studies, pages and terminal texts. For
// programs.
#pragma once

#include "headroom_lab/lab/lab.hpp"
#include "headroom_lab/report/attend.hpp"
#include "headroom_lab/report/comparison.hpp"
#include "headroom_lab/report/evaluation.hpp"
#include "headroom_lab/report/half.hpp"
#include "headroom_lab/report/lab.hpp"
#include "headroom_lab/report/plain_page.hpp"
#include "headroom_lab/report/report.hpp"
#include "headroom_lab/report/study.hpp"
#include "headroom_lab/report/terminal.hpp"
#include "headroom_lab/study/study.hpp"
