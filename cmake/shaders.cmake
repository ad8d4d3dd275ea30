# pelt_target_shaders(TARGET FILE...): compiles GLSL files to SPIR-V, each as a C initialiser list:
#     static const uint32_t skin_comp[] =
#     #include "skin.comp.inc"
#         ;
function(pelt_target_shaders target)
    find_program(PELT_GLSLC glslc REQUIRED)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/shaders)
    file(MAKE_DIRECTORY ${folder})
    foreach(source ${ARGN})
        get_filename_component(name ${source} NAME)
        set(output ${folder}/${name}.inc)
        add_custom_command(OUTPUT ${output}
            COMMAND ${PELT_GLSLC} --target-env=vulkan1.2 -O -Werror -mfmt=c -MD -MF ${output}.d
                -I ${PROJECT_SOURCE_DIR}/shaders -I ${PROJECT_SOURCE_DIR}/include
                -o ${output} ${source}
            DEPENDS ${source} DEPFILE ${output}.d COMMENT "glslc ${name}" VERBATIM)
        target_sources(${target} PRIVATE ${output})
    endforeach()
    target_include_directories(${target} PRIVATE ${folder})
endfunction()
