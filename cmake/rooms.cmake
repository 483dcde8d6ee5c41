# Tests spend most of their time in these rooms. Debug builds optimise them, which takes little time to compile and
# halves the time of the tests.
set(hot_rooms base manifest promql model engine workload fleet decide control sim archive experiment)

# ctest starts the longest programs first, so that no core waits for the last one.
set(long_programs experiment plan)

# A room is one folder below src/: a static library of its sources and one test program of its *_test.cc files.
# A unity build compiles several of its sources at a time, which takes a third of the time (docs/decisions/0010).
# DEPENDS lists the rooms that it uses. tests/tree checks this list and the includes against docs/architecture.md.
#
#   capstan_room(engine DEPENDS base model LIBRARIES fmt::fmt)
function(capstan_room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM ROOM_DEPENDS PREPEND capstan_)
  if(sources)
    add_library(capstan_${name} STATIC ${sources})
    target_include_directories(capstan_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(capstan_${name} PUBLIC ${ROOM_DEPENDS} PRIVATE ${ROOM_LIBRARIES})
    if(name IN_LIST hot_rooms)
      target_compile_options(capstan_${name} PRIVATE $<$<CONFIG:Debug>:-O1>)
    endif()
    if(CAPSTAN_FUZZ AND name IN_LIST rooms_without_fuzz_target)
      target_compile_options(capstan_${name} PRIVATE -fno-sanitize=fuzzer-no-link)
    endif()
  else()
    add_library(capstan_${name} INTERFACE)
    target_include_directories(capstan_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(capstan_${name} INTERFACE ${ROOM_DEPENDS})
  endif()
  if(CAPSTAN_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE capstan_${name} ${ROOM_LIBRARIES})
    capstan_test_program(${name}_test)
    set(short_tests)
    if(CAPSTAN_FUZZ AND DEFINED long_${name}_tests)
      set(short_tests --gtest_filter=-${long_${name}_tests})
    endif()
    add_test(NAME ${name} COMMAND ${name}_test ${short_tests})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600)
    if(name IN_LIST long_programs)
      set_tests_properties(${name} PROPERTIES COST 100)
    endif()
  endif()
endfunction()
