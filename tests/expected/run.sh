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
exec python3 "$shared/tools/check_$what.py" "$pelt" "$shared/$what" "$@"
