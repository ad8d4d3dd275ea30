#!/usr/bin/env bash
# Skins characters with pelt and has the Khronos validator check what it wrote: run.sh PELT WORK
# Fetches the validator into WORK with npm, once. With PELT_REQUIRE_VALIDATOR=1 nothing is skipped.
set -euo pipefail
pelt=$(realpath "$1") work=$2
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
cp "$source/package.json" "$source/validate.js" "$work"
cd "$work"
version=$(node -p 'require("./package.json").dependencies["gltf-validator"]')
if ! grep -qs "\"version\": \"$version\"" node_modules/gltf-validator/package.json; then
    command -v npm >/dev/null || skip "npm is not installed"
    npm install --no-package-lock --no-audit --no-fund --loglevel=error --fetch-retries=1 \
        --fetch-timeout=30000 >npm.log 2>&1 ||
        { cat npm.log; skip "npm could not fetch gltf-validator $version"; }
fi
cd - >/dev/null
exec node "$work/validate.js" "$pelt" "$work" "${PELT_SHARED:-../shared}/assets/models"
