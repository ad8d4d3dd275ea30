# Compiler settings of every target of ours: pelt_target_options(TARGET).
function(pelt_target_options target)
    set_target_properties(${target} PROPERTIES C_STANDARD 17 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
    target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L _DEFAULT_SOURCE)
    # -ffp-contract=off: the same numbers from every compiler and build type; math-errno only costs.
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion
        -Wno-sign-conversion -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
        -ffp-contract=off -fno-math-errno)
    if(PELT_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(PELT_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=address,undefined
            -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
        target_link_options(${target} PRIVATE -fsanitize=address,undefined)
        get_target_property(type ${target} TYPE)
        if(type STREQUAL EXECUTABLE)
            target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/foreign_leaks.c)
            # Libraries opened at run time must find what it defines.
            target_link_options(${target} PRIVATE -Wl,--export-dynamic-symbol=dlclose
                -Wl,--export-dynamic-symbol=__lsan_default_suppressions
                -Wl,--export-dynamic-symbol=__lsan_default_options)
        endif()
    endif()
    if(PELT_FUZZ)
        target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
endfunction()
