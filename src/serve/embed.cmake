# Puts web/dist/page.html into the library as text, so that the program needs no files at run time. scripts/web builds
# that file from the sources in web/.
set(CAPSTAN_PAGE_HTML ${PROJECT_SOURCE_DIR}/web/dist/page.html)
file(READ ${CAPSTAN_PAGE_HTML} CAPSTAN_PAGE_TEXT)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CAPSTAN_PAGE_HTML})
configure_file(${CMAKE_CURRENT_LIST_DIR}/bundled_page.cc.in
               ${PROJECT_BINARY_DIR}/generated/serve/bundled_page.cc @ONLY)
target_sources(capstan_serve PRIVATE ${PROJECT_BINARY_DIR}/generated/serve/bundled_page.cc)
