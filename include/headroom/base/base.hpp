// The ground floor: shapes, errors, random numbers, threads, head locations, records, texts.
#pragma once

#include "headroom/base/error.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/base/half.hpp"
#include "headroom/base/head_id.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/base/op_scope.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/real.hpp"
#include "headroom/base/record.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/base/shape.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom/base/text.hpp"
#include "headroom/base/utf8.hpp"
