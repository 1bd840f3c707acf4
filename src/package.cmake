# The Debian package, by `cpack` in the build folder of the preset `package`. Programs and libraries
# are for every processor of the architecture; fmt and utf8proc are compiled in, so that one package
# fits Debian 12 and 13. On x86-64 the engine is there a second time, for processors of level
# x86-64-v3 (AVX2, FMA): the loader looks in glibc-hwcaps first, and takes what the processor can
# run.

if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  include(ExternalProject)
  set(level_3 ${PROJECT_BINARY_DIR}/x86-64-v3)
  ExternalProject_Add(headroom_level_3 SOURCE_DIR ${PROJECT_SOURCE_DIR} BINARY_DIR ${level_3}
    CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DCMAKE_UNITY_BUILD=ON
      -DHEADROOM_ENGINE_ONLY=ON -DHEADROOM_INSTALL=OFF -DHEADROOM_PACKAGE=ON
      -DCMAKE_CXX_FLAGS=-march=x86-64-v3 -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
    INSTALL_COMMAND "" BUILD_ALWAYS ON USES_TERMINAL_BUILD ON)
  install(DIRECTORY ${level_3}/src/headroom/
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/glibc-hwcaps/x86-64-v3
    FILES_MATCHING PATTERN "libheadroom*.so.*" PATTERN CMakeFiles EXCLUDE)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME headroom)
set(CPACK_PACKAGE_CONTACT "the headroom project <headroom@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# Without this program CPack leaves out what the libraries need.
find_program(HEADROOM_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(HEADROOM_SHLIBDEPS)
if(NOT HEADROOM_SHLIBDEPS)
  message(FATAL_ERROR "missing packages: apt-get install dpkg-dev")
endif()
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The engine of level 3 has the same dependencies.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libjs-chart.js")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "man-db, bash-completion")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, nlohmann-json3-dev, graphviz, chromium")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
include(CPack)
