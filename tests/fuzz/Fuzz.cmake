# SPDX-License-Identifier: Apache-2.0
# tandem_fuzz(NAME SOURCES ... LINK ...): a libFuzzer target, only with TANDEM_FUZZ (preset `fuzz`).
#   cmake --preset fuzz && cmake --build --preset fuzz --target fuzz_yaml
#   build/fuzz/tests/fuzz/support/fuzz_yaml -max_total_time=60 CORPUS_FOLDER
# Each target is also a ctest case (label heavy) of some thousand runs.
include_guard(GLOBAL)

if(TANDEM_FUZZ)
  # Coverage feedback must come from the libraries under test, too.
  target_compile_options(tandem_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

function(tandem_fuzz name)
  if(NOT TANDEM_FUZZ)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE tandem_options ${arg_LINK})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_test(NAME ${name} COMMAND ${name} -runs=20000 -seed=1 -max_len=4096 -timeout=10)
  set_tests_properties(${name} PROPERTIES LABELS heavy)
endfunction()
