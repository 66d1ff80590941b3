# install(): headers, static libraries, `find_package(pantile)` and pkg-config. Included last, when all modules are known.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(modules GLOBAL PROPERTY PANTILE_MODULES)
list(TRANSFORM modules PREPEND pantile_ OUTPUT_VARIABLE targets)

# The umbrella: `target_link_libraries(app pantile::pantile)`.
add_library(pantile_all INTERFACE)
add_library(pantile::pantile ALIAS pantile_all)
set_target_properties(pantile_all PROPERTIES EXPORT_NAME pantile)
target_link_libraries(pantile_all INTERFACE ${targets})

install(TARGETS ${targets} pantile_all EXPORT pantileTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/pantile" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(TARGET pantile_cli)
  install(TARGETS pantile_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/pantile")
install(EXPORT pantileTargets NAMESPACE pantile:: DESTINATION "${package_folder}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/pantileConfig.cmake.in" "${PROJECT_BINARY_DIR}/pantileConfig.cmake"
                              INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/pantileConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/pantileConfig.cmake" "${PROJECT_BINARY_DIR}/pantileConfigVersion.cmake" DESTINATION "${package_folder}")

# Static libraries: each before what it needs.
list(REVERSE targets)
list(TRANSFORM targets PREPEND -l OUTPUT_VARIABLE pkgconfig_libs)
list(JOIN pkgconfig_libs " " PANTILE_PKGCONFIG_LIBS)
configure_file("${CMAKE_CURRENT_LIST_DIR}/pantile.pc.in" "${PROJECT_BINARY_DIR}/pantile.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/pantile.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
