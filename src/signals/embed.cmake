# Puts schema/metrics.csv into the library as text, so that the program needs no files at run time.
set(CAPSTAN_METRICS_CSV ${PROJECT_SOURCE_DIR}/schema/metrics.csv)
file(READ ${CAPSTAN_METRICS_CSV} CAPSTAN_METRICS_TEXT)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CAPSTAN_METRICS_CSV})
configure_file(${CMAKE_CURRENT_LIST_DIR}/bundled_metrics.cc.in ${PROJECT_BINARY_DIR}/generated/signals/bundled_metrics.cc
               @ONLY)
target_sources(capstan_signals PRIVATE ${PROJECT_BINARY_DIR}/generated/signals/bundled_metrics.cc)
