# Compiles data/workloads/*.csv into the library as text, so that the program needs no files at run time.
set(CAPSTAN_PROFILE_ROWS "")
file(GLOB profiles CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/data/workloads/*.csv)
foreach(profile ${profiles})
  get_filename_component(profile_name ${profile} NAME_WE)
  file(READ ${profile} profile_text)
  string(APPEND CAPSTAN_PROFILE_ROWS "    {\"${profile_name}\", R\"profile(${profile_text})profile\"},\n")
endforeach()
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${profiles})
configure_file(${CMAKE_CURRENT_LIST_DIR}/bundled_profiles.cc.in
               ${PROJECT_BINARY_DIR}/generated/workload/bundled_profiles.cc @ONLY)
target_sources(capstan_workload PRIVATE ${PROJECT_BINARY_DIR}/generated/workload/bundled_profiles.cc)
