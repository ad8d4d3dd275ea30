#!/usr/bin/env bash
# Has other people's programs read what pelt writes: run.sh SCRIPT PELT WORK
#   validate.js  the Khronos glTF validator, models that pelt skinned
#   ktx2.js      ktx-parse and three.js's KTX2Loader, palettes that pelt baked
# Fetches them into WORK with npm, once. With PELT_REQUIRE_VALIDATOR=1 nothing is skipped.
set -euo pipefail
script=$1 pelt=$(realpath "$2") work=$3
source=$(realpath "$(dirname "$0")")

skip()
{
    if [ "${PELT_REQUIRE_VALIDATOR:-0}" = 1 ]; then
        echo "failed: $1"
        exit 1
    fi
    echo "skipped: $1"
    exit 77
}

command -v node >/dev/null || skip "node is not installed"
mkdir -p "$work"
cd "$work"
# Both tests may run at once: one of them fetches, and neither writes what the other is reading.
exec 9>lock
flock 9
for file in package.json browser.html "$script"; do
    cmp -s "$source/$file" "$file" || cp "$source/$file" .
done
if ! cmp -s package.json fetched.json; then
    command -v npm >/dev/null || skip "npm is not installed"
    npm install --no-package-lock --no-audit --no-fund --loglevel=error --fetch-retries=1 \
        --fetch-timeout=30000 >npm.log 2>&1 ||
        { cat npm.log; skip "npm could not fetch the packages of tests/validate/package.json"; }
    cp package.json fetched.json
fi
exec 9>&-
cd - >/dev/null
exec node "$work/$script" "$pelt" "$work" "${PELT_SHARED:-../shared}/assets/models"
