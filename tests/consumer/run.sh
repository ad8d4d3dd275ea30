#!/usr/bin/env bash
# Builds and runs the consumer: run.sh subdirectory|installed|pkg-config|no-vulkan BUILD
# BUILD is pelt's own build folder, from which "installed" and "pkg-config" install; "no-vulkan"
# builds pelt anew, without the GPU passes.
set -euo pipefail
kind=$1 build=$(realpath "$2")
source=$(realpath "$(dirname "$0")") root=$(realpath "$(dirname "$0")/../..")
work=$build/consumer/$kind prefix=$build/consumer/$kind/prefix
rm -rf "$work"
mkdir -p "$work"

fail()
{
    echo "consumer: $*"
    exit 1
}

# logged NAME COMMAND...: shows the end of the output only if the command fails.
logged()
{
    local log=$work/$1.log
    shift
    "$@" >"$log" 2>&1 || { tail -n 50 "$log" && fail "failed: $*"; }
}

# readme_block LANGUAGE: the one block of README.md in that language, with PREFIX filled in.
readme_block()
{
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$root/README.md" | sed -e '/^```/d' -e "s|PREFIX|$prefix|"
}

# A folder with the README's example program, where its instructions apply.
make_readme_project()
{
    mkdir "$work/character"
    cp "$root/examples/skin_cpu.c" "$work/character/character.c"
    cd "$work/character"
}

vulkan=ON
case $kind in
installed | pkg-config)
    vulkan=$(sed -n 's/^PELT_VULKAN:BOOL=//p' "$build/CMakeCache.txt")
    logged install cmake --install "$build" --prefix "$prefix"
    ;;
no-vulkan)
    vulkan=OFF
    logged pelt cmake -S "$root" -B "$work/pelt" -G Ninja -DPELT_VULKAN=OFF -DPELT_TOOL=OFF \
        -DPELT_TESTS=OFF
    logged build cmake --build "$work/pelt"
    logged install cmake --install "$work/pelt" --prefix "$prefix"
    ;;
esac
if [ "$kind" != subdirectory ]; then
    # The installed tree must stand on its own and be movable.
    mv "$prefix" "$work/moved"
    prefix=$work/moved
    for file in LICENSE README.md CHANGELOG.md docs/integration.md docs/images/crowd.png; do
        [ -f "$prefix/share/doc/pelt/$file" ] || fail "$file is not installed"
    done
    if [ "$vulkan" = OFF ] && find "$prefix" -name 'vulkan*.h' -o -name '*.glsl' | grep .; then
        fail "the files above need Vulkan"
    fi
fi

case $kind in
subdirectory)
    logged cmake cmake -S "$source" -B "$work" -G Ninja -DPELT_SOURCE="$root" -DEXPECT_VULKAN=ON
    logged build cmake --build "$work" --target consumer_pelt consumer_static
    ;;
installed | no-vulkan)
    logged cmake cmake -S "$source" -B "$work" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
        -DEXPECT_VULKAN="$vulkan"
    logged build cmake --build "$work"
    make_readme_project
    readme_block cmake >CMakeLists.txt
    logged readme cmake -B out -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
    logged readme cmake --build out
    ;;
pkg-config)
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name pelt.pc)")
    export PKG_CONFIG_PATH
    libdir=$(pkg-config --variable=libdir pelt)
    read -ra cflags <<<"$(pkg-config --cflags pelt)"
    read -ra shared <<<"$(pkg-config --libs pelt) -Wl,-rpath,$libdir"
    # -lpelt would find the shared library first.
    read -ra static <<<"$(pkg-config --static --libs pelt | sed 's/-lpelt\>/-l:libpelt.a/')"
    if [ "$vulkan" = OFF ]; then
        [ "$(pkg-config --variable=vulkan pelt)" = no ] || fail "pelt.pc promises Vulkan"
    else
        [ "$(pkg-config --variable=vulkan pelt)" = yes ] || fail "pelt.pc says nothing of Vulkan"
        shaders=$(pkg-config --variable=shaderdir pelt)
        [ -f "$shaders/pelt/skin_main.glsl" ] || fail "no shaders at $shaders"
        [[ $shaders != *//* ]] || fail "two slashes: $shaders"
        cflags+=(-DEXPECT_VULKAN)
        cc -std=c17 "${cflags[@]}" "$root/examples/skin_vulkan.c" "${shared[@]}" -lvulkan \
            -o "$work/skin_vulkan"
    fi
    c++ -std=c++17 "${cflags[@]}" -c "$source/headers.cpp" -o "$work/headers.o"
    cc -std=c17 "${cflags[@]}" -c "$source/main.c" -o "$work/main.o"
    cc "$work"/*.o "${shared[@]}" -lm -o "$work/consumer_pelt"
    cc "$work"/*.o "${static[@]}" -lm -o "$work/consumer_static"
    unset PKG_CONFIG_PATH
    make_readme_project
    readme_block sh >build.sh
    logged readme bash -e build.sh
    [ -x character ] || fail "the README's commands make no program"
    [[ $(ldd character) == *libpelt*"$prefix"* ]] || fail "the README's program misses its library"
    ;;
esac

"$work/consumer_pelt"
"$work/consumer_static"
# Each must be linked the way its name says; the shared library by its soname.
readelf -d "$work/consumer_pelt" | grep -q 'NEEDED.*libpelt\.so\.0\.1'
if readelf -d "$work/consumer_static" | grep -q 'NEEDED.*libpelt'; then
    fail "consumer_static is linked with the shared library"
fi
