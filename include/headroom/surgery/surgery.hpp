// All headers of the floor surgery.
#pragma once

#include "headroom/surgery/check_layout.hpp"
#include "headroom/surgery/drop_head.hpp"
#include "headroom/surgery/fold_gates.hpp"
#include "headroom/surgery/layout_conversion.hpp"
#include "headroom/surgery/regrowth.hpp"
#include "headroom/surgery/transplant.hpp"
