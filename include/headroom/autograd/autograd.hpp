// Tensors, the tape and the gradient check.
#pragma once

#include "headroom/autograd/gradcheck.hpp"
#include "headroom/autograd/graphviz.hpp"
#include "headroom/autograd/listing.hpp"
#include "headroom/autograd/print.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/autograd/tensor.hpp"
