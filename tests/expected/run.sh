#!/usr/bin/env bash
# Runs pelt over inputs with expected values: run.sh cases|assets PELT [OPTION...]
# They lie in $PELT_SHARED, or ../shared beside the source tree.
set -euo pipefail
what=$1 pelt=$2
shift 2
shared=${PELT_SHARED:-../shared}
if [ ! -d "$shared/$what" ]; then
    echo "skipped: $shared/$what is not there"
    exit 77
fi
if ! command -v python3 >/dev/null; then
    echo "skipped: python3 is not installed"
    exit 77
fi

# The checker allows packed weights 8e-4 of a primitive's box. A primitive of a single vertex has a
# box of no size, so it allows nothing for what no packing can avoid: this one is off by 0.2/4096.
known='^FAIL models/magnum/magnum-skin-shared/.* vertex 0 off by 4\.8[0-9]e-05 '

status=0
output=$(python3 "$shared/tools/check_$what.py" "$pelt" "$shared/$what" "$@") || status=$?
echo "$output"
failures=$(grep '^FAIL ' <<<"$output" || true)
finished=$(tail -n 1 <<<"$output" | grep -E '^[0-9]+ passed, ' || true)
if [ "$status" = 1 ] && [ -n "$failures" ] && [ -n "$finished" ] &&
    ! grep -vqE "$known" <<<"$failures"; then
    echo "The failure above is known, see tests/expected/run.sh"
    status=0
fi
exit "$status"
