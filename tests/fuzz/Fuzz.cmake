# SPDX-License-Identifier: Apache-2.0
# tandem_fuzz(NAME SOURCES ... LINK ... [SEEDS FOLDER]): a libFuzzer target, only with TANDEM_FUZZ (preset `fuzz`); it
# mutates the files of FOLDER, if given.
#   cmake --preset fuzz && cmake --build --preset fuzz --target fuzz_yaml
#   build/fuzz/tests/fuzz/support/fuzz_yaml -max_total_time=60 CORPUS_FOLDER
# Each target is also a ctest case (label heavy) of 20,000 runs, or a minute.
include_guard(GLOBAL)

if(TANDEM_FUZZ)
  # Coverage feedback must come from the libraries under test, too.
  target_compile_options(tandem_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

function(tandem_fuzz name)
  if(NOT TANDEM_FUZZ)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SEEDS" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE tandem_options ${arg_LINK})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  # libFuzzer writes what it finds to the first folder and only reads the others.
  set(corpus ${CMAKE_CURRENT_BINARY_DIR}/corpus_${name})
  file(MAKE_DIRECTORY ${corpus})
  add_test(NAME ${name} COMMAND ${name} -runs=20000 -max_total_time=60 -seed=1 -max_len=8192 -timeout=10 ${corpus} ${arg_SEEDS})
  set_tests_properties(${name} PROPERTIES LABELS heavy)
endfunction()
