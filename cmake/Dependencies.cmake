# SPDX-License-Identifier: Apache-2.0
# Everything tandem builds on; all of it Debian packages (docs/dependencies.md).
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc)

# Debian's yaml-cpp 0.7 exports the plain name only.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

add_library(tandem_hdf5 INTERFACE)
target_include_directories(tandem_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_link_libraries(tandem_hdf5 INTERFACE ${HDF5_C_LIBRARIES})

# The packaged SystemC library was built as C++17 and its symbols say so; linked from C++20 code it must be told.
add_library(tandem_systemc INTERFACE)
target_compile_definitions(tandem_systemc INTERFACE SC_CPLUSPLUS=201703L)
target_link_libraries(tandem_systemc INTERFACE PkgConfig::SYSTEMC)
get_target_property(systemc_includes PkgConfig::SYSTEMC INTERFACE_INCLUDE_DIRECTORIES)
if(systemc_includes)
  target_include_directories(tandem_systemc SYSTEM INTERFACE ${systemc_includes})
endif()
