// To be written.
#include "support/catch.hpp"
