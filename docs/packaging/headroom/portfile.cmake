# A port of headroom for vcpkg: an overlay of a checkout, whose folder HEADROOM_SOURCE names.
#   HEADROOM_SOURCE=$PWD vcpkg install headroom --overlay-ports=docs/packaging
set(SOURCE_PATH "$ENV{HEADROOM_SOURCE}")
if(NOT EXISTS "${SOURCE_PATH}/CMakePresets.json")
  message(FATAL_ERROR "HEADROOM_SOURCE must name a folder with the sources of headroom")
endif()
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DHEADROOM_PROGRAMS=OFF
  -DHEADROOM_TESTS=OFF -DHEADROOM_COURSE=OFF -DHEADROOM_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/headroom)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
