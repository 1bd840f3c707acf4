"""A recipe of headroom for Conan 2, in a checkout: conan create docs/packaging"""
import os

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.system.package_manager import Apt


class Headroom(ConanFile):
    name = "headroom"
    version = "0.1.0"
    description = "Transformers whose attention heads can be measured, compared and removed"
    license = "MIT"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    def system_requirements(self):  # Debian's, with which headroom is tested
        Apt(self).install(["libxtensor-dev", "libxtensor-blas-dev", "libxsimd-dev", "libfmt-dev",
                           "libopenblas-dev", "libprotozero-dev", "libutf8proc-dev",
                            "nlohmann-json3-dev"],
                          update=True)

    def export_sources(self):
        root = os.path.join(self.recipe_folder, os.pardir, os.pardir)
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "src/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["CMAKE_UNITY_BUILD"] = True
        for part in ("PROGRAMS", "TESTS", "COURSE", "EXAMPLES"):
            toolchain.cache_variables[f"HEADROOM_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "headroom"))
        self.cpp_info.set_property("cmake_find_mode", "none")  # headroom's own file is used
