# Finds the BLAS that HEADROOM_BLAS names and rejects two unsuitable kinds.
# Defines the target BLAS::BLAS, or for a library given by its path the variable HEADROOM_BLAS_LINK.

if(HEADROOM_BLAS MATCHES "[/.]")
  if(NOT EXISTS ${HEADROOM_BLAS})
    message(FATAL_ERROR "HEADROOM_BLAS=${HEADROOM_BLAS}: there is no such file")
  endif()
  set(BLAS_LIBRARIES ${HEADROOM_BLAS})
  set(HEADROOM_BLAS_LINK ${HEADROOM_BLAS})
else()
  set(BLA_VENDOR ${HEADROOM_BLAS})
  find_package(BLAS QUIET)
  if(NOT BLAS_FOUND AND HEADROOM_BLAS STREQUAL "OpenBLAS")
    list(APPEND HEADROOM_MISSING libopenblas-dev)
    return()
  elseif(NOT BLAS_FOUND)
    message(FATAL_ERROR "HEADROOM_BLAS=${HEADROOM_BLAS}: CMake's FindBLAS finds no such library")
  endif()
  set(HEADROOM_BLAS_LINK BLAS::BLAS)
endif()

# The reference BLAS is 50 times slower than the others, and is found without a warning where it is
# the system's default. It is installed as blas/libblas.so.3 or libblas.a.
foreach(library IN LISTS BLAS_LIBRARIES)
  file(REAL_PATH ${library} file)
  if(file MATCHES "/libblas[^/]*$" AND NOT file MATCHES "openblas|atlas|blis|mkl|armpl")
    message(FATAL_ERROR "HEADROOM_BLAS=${HEADROOM_BLAS} is ${file}, the reference BLAS, which is "
      "about 50 times slower than OpenBLAS: install libopenblas-dev, or name another library")
  endif()
endforeach()

include(CheckCXXSourceCompiles)
include(CMakePushCheckState)
cmake_push_check_state(RESET)
set(CMAKE_REQUIRED_LIBRARIES ${BLAS_LIBRARIES})
unset(HEADROOM_BLAS_HAS_CBLAS CACHE)
set(CMAKE_REQUIRED_QUIET ON)
check_cxx_source_compiles("extern \"C\" void cblas_sgemm(); int main() { cblas_sgemm(); }"
  HEADROOM_BLAS_HAS_CBLAS)
cmake_pop_check_state()
if(NOT HEADROOM_BLAS_HAS_CBLAS)
  message(FATAL_ERROR "HEADROOM_BLAS=${HEADROOM_BLAS} (${BLAS_LIBRARIES}) has no cblas_sgemm: "
    "headroom needs a library with the cblas interface")
endif()
