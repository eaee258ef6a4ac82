# SPDX-License-Identifier: Apache-2.0
# What every target of ours is compiled with. Link `tandem_options`; warnings are errors.
add_library(tandem_options INTERFACE)
target_include_directories(tandem_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(tandem_options INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wpedantic -Werror)
# GCC 12 sees overlapping copies in plain std::string assignments (GCC bug 105329, fixed in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tandem_options INTERFACE -Wno-restrict)
endif()
# Results must not depend on the compiler's choice of fused operations.
target_compile_options(tandem_options INTERFACE -ffp-contract=off)
if(TANDEM_SANITIZE)
  target_compile_options(tandem_options INTERFACE -fsanitize=${TANDEM_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(tandem_options INTERFACE -fsanitize=${TANDEM_SANITIZE})
endif()

# tandem_library(NAME SOURCES ... LINK ...): one static library per folder.
function(tandem_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(tandem_${name} STATIC ${arg_SOURCES})
  target_link_libraries(tandem_${name} PUBLIC tandem_options ${arg_LINK})
endfunction()
