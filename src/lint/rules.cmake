# Generates the table of all rules from the files below rules/: RULES/FOLDER/some-rule.cc defines `rule_some_rule`.
file(GLOB_RECURSE CAPSTAN_RULE_FILES CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/rules/*.cc)
set(CAPSTAN_RULE_DECLARATIONS "")
set(CAPSTAN_RULE_LIST "")
list(TRANSFORM CAPSTAN_RULE_FILES REPLACE "^.*/([a-z0-9_]+)\\.cc$" "\\1" OUTPUT_VARIABLE CAPSTAN_RULE_NAMES)
list(SORT CAPSTAN_RULE_NAMES)
foreach(name IN LISTS CAPSTAN_RULE_NAMES)
  string(APPEND CAPSTAN_RULE_DECLARATIONS "extern const Rule rule_${name};\n")
  string(APPEND CAPSTAN_RULE_LIST "    &rule_${name},\n")
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/rule_table.cc.in ${PROJECT_BINARY_DIR}/generated/lint/rule_table.cc @ONLY)
target_sources(capstan_lint PRIVATE ${PROJECT_BINARY_DIR}/generated/lint/rule_table.cc)

# Every rule includes these headers, so they are precompiled.
target_precompile_headers(capstan_lint PRIVATE <fmt/format.h> <algorithm> <map> <memory> <optional> <set> <string>
                           <variant> <vector>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(capstan_lint PRIVATE -fpch-preprocess)  # for ccache
endif()
