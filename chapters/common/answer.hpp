// The declarations that most answers need. The runner precompiles this header, which includes no
// JSON: with it, every compilation of an answer would take 0.4 s longer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/todo.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/separate_heads.hpp"
#include "headroom/ops/ops.hpp"
