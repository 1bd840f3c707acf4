// Modules: layers, the attention layouts, whole models, decoding.
#pragma once

#include "headroom/nn/attention.hpp"
#include "headroom/nn/decoding.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/gates.hpp"
#include "headroom/nn/head_share.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/nn/layers.hpp"
#include "headroom/nn/linear.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/nn/module.hpp"
#include "headroom/nn/separate_heads.hpp"
#include "headroom/nn/shared_head.hpp"
#include "headroom/nn/transformer.hpp"
