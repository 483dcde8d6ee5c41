# Puts the tables of data/lint into the library as text, so that the program needs no files at run time.
foreach(table gpu_families removed_apis removed_metrics metrics mig versions pod_shapes removed_flags priority_classes
        api_groups kubernetes_fields)
  set(file ${PROJECT_SOURCE_DIR}/data/lint/${table}.csv)
  string(TOUPPER ${table} upper)
  file(READ ${file} CAPSTAN_LINT_${upper})
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/bundled_facts.cc.in ${PROJECT_BINARY_DIR}/generated/lint/bundled_facts.cc @ONLY)
target_sources(capstan_lint PRIVATE ${PROJECT_BINARY_DIR}/generated/lint/bundled_facts.cc)

# Puts the definitions of Capstan's own kinds into the library, so that objects of these kinds can be checked.
foreach(kind fleetpolicy inferencescaler queue)
  set(file ${PROJECT_SOURCE_DIR}/deploy/crds/${kind}.yaml)
  string(TOUPPER ${kind} upper)
  file(READ ${file} CAPSTAN_CRD_${upper})
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/own_definitions.cc.in ${PROJECT_BINARY_DIR}/generated/lint/own_definitions.cc
               @ONLY)
target_sources(capstan_lint PRIVATE ${PROJECT_BINARY_DIR}/generated/lint/own_definitions.cc)
