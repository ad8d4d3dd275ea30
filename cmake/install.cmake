# Headers, both libraries, the shaders that others may include, the tool, the documents, and the
# files by which find_package(pelt) and pkg-config find them. Two export sets, so that users of the
# shared library need nothing of what the static one is linked with.
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/pelt)
set(shaders ${CMAKE_INSTALL_DATADIR}/pelt/shaders)
if(PELT_VULKAN)
    install(DIRECTORY include/pelt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.h)
    install(DIRECTORY shaders/pelt DESTINATION ${shaders} FILES_MATCHING PATTERN *.glsl PATTERN *.h)
else()
    install(DIRECTORY include/pelt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.h PATTERN vulkan*.h EXCLUDE PATTERN pose_pass.h EXCLUDE
        PATTERN crowd.h EXCLUDE PATTERN cluster_pass.h EXCLUDE PATTERN ray.h EXCLUDE)
endif()
foreach(kind shared static)
    install(TARGETS pelt_${kind} EXPORT pelt_${kind}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT pelt_${kind} FILE pelt_${kind}.cmake NAMESPACE pelt:: DESTINATION ${package})
endforeach()
if(TARGET pelt_tool)
    install(TARGETS pelt_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# As they lie in the source tree, so that they find each other.
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
    FILES_MATCHING PATTERN *.md PATTERN *.png PATTERN *.svg PATTERN *.c PATTERN *.vert
    PATTERN *.frag)

configure_package_config_file(cmake/peltConfig.cmake.in ${PROJECT_BINARY_DIR}/peltConfig.cmake
    INSTALL_DESTINATION ${package} PATH_VARS shaders)
# 0.x: a minor version may break the interface, as the shared library's name says too.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/peltConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/peltConfig.cmake ${PROJECT_BINARY_DIR}/peltConfigVersion.cmake
    DESTINATION ${package})

file(RELATIVE_PATH pelt_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pelt_pc_prefix ${pelt_pc_prefix})
if(PELT_VULKAN)
    set(pelt_pc_vulkan "vulkan=yes\nshaderdir=\${prefix}/${shaders}")
else()
    set(pelt_pc_vulkan "vulkan=no")
endif()
configure_file(cmake/pelt.pc.in ${PROJECT_BINARY_DIR}/pelt.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pelt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
