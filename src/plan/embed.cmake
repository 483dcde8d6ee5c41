# Puts schema/monitoring.yaml into the library as text, so that the program needs no files at run time.
set(CAPSTAN_MONITORING_YAML ${PROJECT_SOURCE_DIR}/schema/monitoring.yaml)
file(READ ${CAPSTAN_MONITORING_YAML} CAPSTAN_MONITORING_TEXT)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CAPSTAN_MONITORING_YAML})
configure_file(${CMAKE_CURRENT_LIST_DIR}/monitoring/bundled_templates.cc.in
               ${PROJECT_BINARY_DIR}/generated/plan/bundled_templates.cc @ONLY)
target_sources(capstan_plan PRIVATE ${PROJECT_BINARY_DIR}/generated/plan/bundled_templates.cc)
