// Files: safetensors, strict JSON, structs as JSON, atomic writing, locks, Stateful parts.
#pragma once

#include "headroom/io/atomic_file.hpp"
#include "headroom/io/base64.hpp"
#include "headroom/io/checksums.hpp"
#include "headroom/io/child_program.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/file_lock.hpp"
#include "headroom/io/files.hpp"
#include "headroom/io/json.hpp"
#include "headroom/io/stateful.hpp"
#include "headroom/io/tensor_file.hpp"
