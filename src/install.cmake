# Installs the libraries, headers and programs, the CMake package `find_package(headroom)` and
# pkg-config files.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/headroom)

# A component is a library in the precisions that are built. Those below it are a part of it.
set(libraries)
set(programs)
foreach(component IN ITEMS engine foreign measure runs lab)
  set(name headroom_${component})
  if(component STREQUAL "engine")
    set(name headroom)
  endif()
  headroom_each(${name} targets)
  if(NOT targets)
    continue()
  endif()
  list(APPEND libraries ${targets})
  foreach(target IN LISTS targets)
    if(TARGET ${target}_program)
      list(APPEND programs ${target}_program)
    endif()
  endforeach()
  if(component STREQUAL "engine")
    list(APPEND targets headroom_xtensor)
  endif()
  install(TARGETS ${targets} EXPORT headroom-${component})
  install(EXPORT headroom-${component} NAMESPACE headroom:: DESTINATION ${package_dir})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/${name}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
endforeach()
if(programs)
  install(TARGETS ${programs})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES headroom-gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/headroom)
if(programs)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/dates-model
    DESTINATION ${CMAKE_INSTALL_DATADIR}/headroom)
  if(NOT CMAKE_CROSSCOMPILING)  # the program itself writes its man pages and completions
    list(GET programs 0 writer)
    set(data "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}")
    install(CODE "execute_process(COMMAND $<TARGET_FILE:${writer}> completion --install \"${data}\"
      COMMAND_ERROR_IS_FATAL ANY)")
  endif()
endif()

# ---------------------------------------------------------------- find_package(headroom)
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
  if(NOT BUILD_SHARED_LIBS AND pc_library MATCHES "^headroom_foreign(_f64)?$")
    string(APPEND pc_requires ", libutf8proc")
    if(HEADROOM_HAS_SENTENCEPIECE)
      string(APPEND pc_requires ", sentencepiece")
    endif()
  endif()
  foreach(pc_pair IN ITEMS "foreign:headroom:models and tokenizers of other programs"
      "measure:headroom:importance and removal of heads"
      "runs:headroom_measure:training runs" "lab:headroom_runs:experiments and reports")
    string(REPLACE ":" ";" pc_pair "${pc_pair}")
    list(GET pc_pair 0 pc_component)
    if(pc_library MATCHES "^headroom_${pc_component}(_f64)?$")
      list(GET pc_pair 1 pc_below)
      list(GET pc_pair 2 pc_contents)
      set(pc_requires "${pc_below}${CMAKE_MATCH_1}, ${pc_requires}")
      if(pc_component STREQUAL "runs")
        set(pc_requires "headroom_foreign${CMAKE_MATCH_1}, ${pc_requires}")
      endif()
      set(pc_link "")
      string(PREPEND pc_words "${pc_contents}, ")
    endif()
  endforeach()
  configure_file(headroom.pc.in ${PROJECT_BINARY_DIR}/${pc_library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc_library}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
