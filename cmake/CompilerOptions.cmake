# SPDX-License-Identifier: Apache-2.0
# What every target of ours is compiled with. Link `tandem_options`; warnings are errors.
add_library(tandem_options INTERFACE)
target_include_directories(tandem_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(tandem_options INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wpedantic -Werror)
# GCC 12 sees overlapping and endless copies in plain std::string operations (GCC bug 105329, fixed in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tandem_options INTERFACE -Wno-array-bounds -Wno-restrict
                                                  -Wno-stringop-overflow -Wno-stringop-overread)
endif()
# Results must not depend on the compiler's choice of fused operations.
target_compile_options(tandem_options INTERFACE -ffp-contract=off)
if(TANDEM_SANITIZE)
  target_compile_options(tandem_options INTERFACE -fsanitize=${TANDEM_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(tandem_options INTERFACE -fsanitize=${TANDEM_SANITIZE})
endif()

# -O3 costs a quarter more compile time than -O2 and gains nothing measurable here.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# What nearly every file includes, parsed once per kind of compilation. Sources still include what they use: a build
# with -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON holds them to it.
set(TANDEM_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional>
                          <stdexcept> <string> <string_view> <utility> <vector> <fmt/format.h> <fmt/ranges.h>
                          <nlohmann/json.hpp>)

# tandem_library(NAME SOURCES ... LINK ... [HEADERS ... | HEADERS_OF NAME]): one static library per folder; it
# precompiles the common headers and HEADERS, or takes what another library has precompiled.
function(tandem_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADERS_OF" "SOURCES;LINK;HEADERS")
  add_library(tandem_${name} STATIC ${arg_SOURCES})
  target_link_libraries(tandem_${name} PUBLIC tandem_options ${arg_LINK})
  if(arg_HEADERS_OF)
    target_precompile_headers(tandem_${name} REUSE_FROM tandem_${arg_HEADERS_OF})
  else()
    target_precompile_headers(tandem_${name} PRIVATE ${TANDEM_COMMON_HEADERS} ${arg_HEADERS})
  endif()
endfunction()
