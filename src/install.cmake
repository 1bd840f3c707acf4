# Installs the libraries, headers and programs, the CMake package `find_package(headroom)` and
# pkg-config files.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/headroom)

set(libraries)
set(programs)
foreach(target IN ITEMS headroom headroom_f64 headroom_lab headroom_lab_f64)
  if(TARGET ${target})
    list(APPEND libraries ${target})
  endif()
  if(TARGET ${target}_program)
    list(APPEND programs ${target}_program)
  endif()
endforeach()

install(TARGETS ${libraries} headroom_xtensor EXPORT headroom-targets)
if(programs)
  install(TARGETS ${programs})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/headroom
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES headroom-gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/headroom)

# ---------------------------------------------------------------- find_package(headroom)
install(EXPORT headroom-targets NAMESPACE headroom:: DESTINATION ${package_dir})
configure_package_config_file(headroom-config.cmake.in
  ${PROJECT_BINARY_DIR}/headroom-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/headroom-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/headroom-config.cmake
  ${PROJECT_BINARY_DIR}/headroom-config-version.cmake DESTINATION ${package_dir})

# ---------------------------------------------------------------- pkg-config
# A static library does not contain its dependencies, so its users must link them too.
foreach(pc_library IN LISTS libraries)
  set(pc_requires "nlohmann_json")
  set(pc_link "")
  if(NOT BUILD_SHARED_LIBS)
    set(pc_requires "nlohmann_json, fmt")
    list(JOIN BLAS_LIBRARIES " " pc_link)
    list(JOIN OpenMP_CXX_LIBRARIES " " pc_openmp)
    string(APPEND pc_link " ${pc_openmp}")
  endif()
  set(pc_precision "f32")
  set(pc_words "float")
  if(pc_library MATCHES "_f64$")
    set(pc_precision "f64 -DHEADROOM_DOUBLE")
    set(pc_words "double")
  endif()
  if(pc_library MATCHES "_lab")
    string(REPLACE "_lab" "" pc_engine ${pc_library})
    set(pc_requires "${pc_engine}, ${pc_requires}")
    set(pc_link "")
    string(PREPEND pc_words "experiments and reports, ")
  endif()
  configure_file(headroom.pc.in ${PROJECT_BINARY_DIR}/${pc_library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc_library}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
