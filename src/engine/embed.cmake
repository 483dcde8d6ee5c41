# Compiles data/engines.csv, data/gpus.csv and data/instances.csv into the library as text, so that the program needs no
# files at run time.
set(CAPSTAN_ENGINES_CSV ${PROJECT_SOURCE_DIR}/data/engines.csv)
set(CAPSTAN_GPUS_CSV ${PROJECT_SOURCE_DIR}/data/gpus.csv)
set(CAPSTAN_INSTANCES_CSV ${PROJECT_SOURCE_DIR}/data/instances.csv)
file(READ ${CAPSTAN_ENGINES_CSV} CAPSTAN_ENGINES_TEXT)
file(READ ${CAPSTAN_GPUS_CSV} CAPSTAN_GPUS_TEXT)
file(READ ${CAPSTAN_INSTANCES_CSV} CAPSTAN_INSTANCES_TEXT)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CAPSTAN_ENGINES_CSV} ${CAPSTAN_GPUS_CSV} ${CAPSTAN_INSTANCES_CSV})
configure_file(${CMAKE_CURRENT_LIST_DIR}/bundled_table.cc.in ${PROJECT_BINARY_DIR}/generated/engine/bundled_table.cc
               @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/bundled_instances.cc.in
               ${PROJECT_BINARY_DIR}/generated/engine/bundled_instances.cc @ONLY)
target_sources(capstan_engine PRIVATE ${PROJECT_BINARY_DIR}/generated/engine/bundled_table.cc
                                      ${PROJECT_BINARY_DIR}/generated/engine/bundled_instances.cc)
