# Puts schema/monitoring.yaml into the library as text, so that the program needs no files at run time.
set(CAPSTAN_MONITORING_YAML ${PROJECT_SOURCE_DIR}/schema/monitoring.yaml)
file(READ ${CAPSTAN_MONITORING_YAML} CAPSTAN_MONITORING_TEXT)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CAPSTAN_MONITORING_YAML})
configure_file(${CMAKE_CURRENT_LIST_DIR}/monitoring/bundled_templates.cc.in
               ${PROJECT_BINARY_DIR}/generated/plan/bundled_templates.cc @ONLY)
target_sources(capstan_plan PRIVATE ${PROJECT_BINARY_DIR}/generated/plan/bundled_templates.cc)

# Puts schema/plan-example.yaml into the library, which `capstan plan --example` prints.
set(CAPSTAN_PLAN_EXAMPLE_YAML ${PROJECT_SOURCE_DIR}/schema/plan-example.yaml)
file(READ ${CAPSTAN_PLAN_EXAMPLE_YAML} CAPSTAN_PLAN_EXAMPLE_TEXT)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CAPSTAN_PLAN_EXAMPLE_YAML})
configure_file(${CMAKE_CURRENT_LIST_DIR}/read/bundled_example.cc.in
               ${PROJECT_BINARY_DIR}/generated/plan/bundled_example.cc @ONLY)
target_sources(capstan_plan PRIVATE ${PROJECT_BINARY_DIR}/generated/plan/bundled_example.cc)
