// The complete type of Record, which record.hpp only declares.
#pragma once

#include <nlohmann/json.hpp>

#include "headroom/base/record.hpp"
