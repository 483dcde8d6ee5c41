# Precompiles the headers that many tests include, which saves two seconds per test. The code of tests is not optimised,
# because that would take half of their compile time. The code under test is optimised.
set(test_options $<$<CONFIG:Debug>:-O0>)
if(CAPSTAN_FUZZ)
  # A fuzzer is guided by the coverage of the code under test only, so test code needs no instrumentation.
  list(APPEND test_options -fno-sanitize=fuzzer-no-link,undefined)
endif()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cc "")
add_library(capstan_test_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cc)
set_target_properties(capstan_test_headers PROPERTIES UNITY_BUILD OFF)
target_link_libraries(capstan_test_headers PRIVATE GTest::gtest)
target_compile_options(capstan_test_headers PRIVATE ${test_options})
target_precompile_headers(capstan_test_headers PRIVATE <gtest/gtest.h> <rapidcheck/gtest.h>
                           <nlohmann/json.hpp>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(capstan_test_headers PRIVATE -fpch-preprocess)  # for ccache
endif()

function(capstan_test_program name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON)
  target_compile_options(${name} PRIVATE ${test_options})
  target_precompile_headers(${name} REUSE_FROM capstan_test_headers)
  target_link_libraries(${name} PRIVATE GTest::gtest_main rapidcheck)
  target_compile_definitions(${name} PRIVATE CAPSTAN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -fpch-preprocess)
  endif()
endfunction()
