# Puts data/instances.csv into the library as text, so that the program needs no files at run time.
set(CAPSTAN_INSTANCES_CSV ${PROJECT_SOURCE_DIR}/data/instances.csv)
file(READ ${CAPSTAN_INSTANCES_CSV} CAPSTAN_INSTANCES_TEXT)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CAPSTAN_INSTANCES_CSV})
configure_file(${CMAKE_CURRENT_LIST_DIR}/bundled_instances.cc.in
               ${PROJECT_BINARY_DIR}/generated/scenario/bundled_instances.cc @ONLY)
target_sources(capstan_scenario PRIVATE ${PROJECT_BINARY_DIR}/generated/scenario/bundled_instances.cc)
