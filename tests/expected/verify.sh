#!/usr/bin/env bash
# Holds a skinning path against the reference on real characters:
#     verify.sh PELT cpu|gpu [EVERY [METHOD]]
# EVERY: one of so many models, spread over all (default 1: all); METHOD: lbs or dqs. Exact boxes
# must be bit-equal to the positions' min and max and, with lbs, lie within the boxes from joints.
# Models lie in $PELT_SHARED, or ../shared beside the source tree.
set -euo pipefail
pelt=$1 device=$2 every=${3:-1} method=${4:-lbs}
models=${PELT_SHARED:-../shared}/assets/models
# What pelt may refuse, having said so.
refusable='KHR_draco_mesh_compression|its scene has no mesh'
if [ ! -d "$models" ]; then
    echo "skipped: $models is not there"
    exit 77
fi

number=0 passed=0 refused=0 failed=0
while read -r model; do
    number=$((number + 1))
    [ $(((number - 1) % every)) = 0 ] || continue
    status=0
    output=$("$pelt" verify "$model" --device "$device" --method "$method" --count 3 2>&1) ||
        status=$?
    if [ "$status" = 3 ] && [ "${PELT_REQUIRE_GPU:-0}" != 1 ]; then
        echo "skipped: $output"
        exit 77
    elif [ "$status" = 0 ]; then
        passed=$((passed + 1))
    elif [ "$status" = 1 ] && grep -qE "$refusable" <<<"$output"; then
        refused=$((refused + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s: exit %s\n%s\n' "$model" "$status" "$output"
    fi
done < <(find -L "$models" -name '*.glb' -o -name '*.gltf' | LC_ALL=C sort)
echo "$passed passed, $refused refused, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
