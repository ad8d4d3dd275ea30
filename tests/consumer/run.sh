#!/usr/bin/env bash
# Builds and runs the consumer: run.sh subdirectory|installed|pkg-config BUILD
# BUILD is pelt's own build folder, from which "installed" and "pkg-config" install.
set -euo pipefail
kind=$1 build=$(realpath "$2")
source=$(realpath "$(dirname "$0")")
work=$build/consumer/$kind prefix=$build/consumer/$kind/prefix
rm -rf "$work"
mkdir -p "$work"

if [ "$kind" != subdirectory ]; then
    cmake --install "$build" --prefix "$prefix" >"$work/install.log"
    # The installed tree must stand on its own and be movable.
    mv "$prefix" "$work/moved"
    prefix=$work/moved
fi
case $kind in
subdirectory)
    cmake -S "$source" -B "$work" -G Ninja -DPELT_SOURCE="$source/../.." >"$work/cmake.log"
    cmake --build "$work" --target consumer_pelt consumer_static >"$work/build.log" ||
        { tail -n 50 "$work/build.log"; exit 1; }
    ;;
installed)
    cmake -S "$source" -B "$work" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$work/cmake.log"
    cmake --build "$work" >"$work/build.log" || { tail -n 50 "$work/build.log"; exit 1; }
    ;;
pkg-config)
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name pelt.pc)")
    export PKG_CONFIG_PATH
    libdir=$(pkg-config --variable=libdir pelt)
    test -d "$(pkg-config --variable=shaderdir pelt)/pelt"
    read -ra cflags <<<"$(pkg-config --cflags pelt)"
    read -ra shared <<<"$(pkg-config --libs pelt)"
    # -lpelt would find the shared library first.
    read -ra static <<<"$(pkg-config --static --libs pelt | sed 's/-lpelt\>/-l:libpelt.a/')"
    c++ -std=c++17 "${cflags[@]}" -c "$source/headers.cpp" -o "$work/headers.o"
    cc -std=c17 "${cflags[@]}" -c "$source/main.c" -o "$work/main.o"
    cc "$work"/*.o "${shared[@]}" -lm -Wl,-rpath,"$libdir" -o "$work/consumer_pelt"
    cc "$work"/*.o "${static[@]}" -lm -o "$work/consumer_static"
    ;;
esac

"$work/consumer_pelt"
"$work/consumer_static"
# Each must be linked the way its name says; the shared library by its soname.
readelf -d "$work/consumer_pelt" | grep -q 'NEEDED.*libpelt\.so\.0\.1'
if readelf -d "$work/consumer_static" | grep -q 'NEEDED.*libpelt'; then
    echo "consumer_static is linked with the shared library"
    exit 1
fi
