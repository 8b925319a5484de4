# What a CMakeLists.txt of a room may say.
#
#   fairlead_library(NAME base SOURCES result.cc result.h [DEPS fmt::fmt] [PRIVATE_DEPS ...])
#       The library of a room, target fairlead_base. DEPS are seen by those who use it.
#   fairlead_executable(NAME fairlead SOURCES main.cc DEPS cli)
#       A program, build/<preset>/bin/fairlead.
#   fairlead_test(NAME base SOURCES result_test.cc DEPS base [LABEL unit] [TIMEOUT 60])
#       One test program, fairlead_base_test; each TEST in it is a ctest of its own. GoogleTest and
#       rapidcheck are linked. LABEL is unit (default), property or slow; slow tests are left out of
#       the sanitized builds.
#   fairlead_fuzzer(NAME document SOURCES document_fuzz.cc DEPS model [CORPUS dir])
#       A libFuzzer target, fairlead_document_fuzz. Its corpus (default fuzz/corpus/<NAME>) runs as
#       a ctest in every preset, through a plain main where libFuzzer is not linked.
#   fairlead_bench(NAME place SOURCES place_bench.cc DEPS sched)
#       A Google Benchmark program, fairlead_place_bench.
#
# A dependency that is the name of a room means that room's library.

include(GoogleTest)

# In the order of their arrows: each may use those before it (tools/tidy.py has the exact table).
set(FAIRLEAD_ROOMS base net store model node engine sched sim control api cli)

macro(_fairlead_parse)
  cmake_parse_arguments(
    PARSE_ARGV 0 ARG "" "NAME;LABEL;TIMEOUT;CORPUS" "SOURCES;DEPS;PRIVATE_DEPS")
  if(NOT ARG_NAME OR NOT ARG_SOURCES)
    message(FATAL_ERROR "NAME and SOURCES are needed")
  endif()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${ARG_NAME}: what is '${ARG_UNPARSED_ARGUMENTS}'?")
  endif()
  foreach(_list IN ITEMS DEPS PRIVATE_DEPS)
    foreach(_room IN LISTS FAIRLEAD_ROOMS)
      list(TRANSFORM ARG_${_list} REPLACE "^${_room}$" "fairlead_${_room}")
    endforeach()
  endforeach()
endmacro()

function(fairlead_library)
  _fairlead_parse()
  add_library(fairlead_${ARG_NAME} STATIC ${ARG_SOURCES})
  target_link_libraries(fairlead_${ARG_NAME} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
endfunction()

function(fairlead_executable)
  _fairlead_parse()
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} ${ARG_PRIVATE_DEPS})
endfunction()

# fairlead_add_ctest(NAME LABEL TIMEOUT command...): a ctest that is not a GoogleTest.
function(fairlead_add_ctest name label timeout)
  add_test(NAME ${FAIRLEAD_TEST_PREFIX}${name} COMMAND ${ARGN}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${FAIRLEAD_TEST_PREFIX}${name}
    PROPERTIES LABELS ${label} TIMEOUT ${timeout})
endfunction()

function(fairlead_test)
  _fairlead_parse()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  if(FAIRLEAD_SANITIZE)
    if(ARG_LABEL STREQUAL "slow")
      return()
    endif()
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 5")
  endif()
  set(target fairlead_${ARG_NAME}_test)
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_DEPS} ${ARG_PRIVATE_DEPS} rapidcheck_gtest
                                          GTest::gtest_main)
  # A seed of their own, so that a run can be had again; see tests/property/README.md.
  gtest_discover_tests(
    ${target}
    TEST_PREFIX ${FAIRLEAD_TEST_PREFIX}${ARG_NAME}.
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT RC_PARAMS=seed=1)
endfunction()

function(fairlead_fuzzer)
  _fairlead_parse()
  if(NOT ARG_CORPUS)
    set(ARG_CORPUS ${PROJECT_SOURCE_DIR}/fuzz/corpus/${ARG_NAME})
  endif()
  cmake_path(ABSOLUTE_PATH ARG_CORPUS BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT IS_DIRECTORY ${ARG_CORPUS})
    message(FATAL_ERROR "Fuzzer ${ARG_NAME} has no corpus: ${ARG_CORPUS}")
  endif()
  set(target fairlead_${ARG_NAME}_fuzz)
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_DEPS} ${ARG_PRIVATE_DEPS})
  if(FAIRLEAD_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    set(once -runs=0)
  else()
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/fuzz/corpus_main.cc)
    set(once "")
  endif()
  fairlead_add_ctest(fuzz.${ARG_NAME} fuzz 300 ${target} ${once} ${ARG_CORPUS})
endfunction()

function(fairlead_bench)
  if(NOT FAIRLEAD_BENCH)
    return()
  endif()
  _fairlead_parse()
  set(target fairlead_${ARG_NAME}_bench)
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_DEPS} ${ARG_PRIVATE_DEPS}
                                          benchmark::benchmark_main)
  add_dependencies(benchmarks ${target})
endfunction()
