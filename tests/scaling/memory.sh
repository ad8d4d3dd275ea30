#!/usr/bin/env bash
# Reading and skinning a large character on the CPU needs less memory than six times its file:
# memory.sh PELT WORK
set -euo pipefail
pelt=$1 work=$2
mkdir -p "$work"
trap 'rm -f "$work"/*.glb' EXIT

"$pelt" sample --vertices 500000 -o "$work/large.glb"
file=$(stat -c %s "$work/large.glb")
# The peak resident size, from the kernel's own account of the child.
peak=$(python3 - "$pelt" skin "$work/large.glb" --device cpu -o "$work/out.glb" <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
)
echo "file $file bytes, peak memory $peak bytes, $((100 * peak / file)) % of the file (under 600)"
[ "$peak" -lt $((6 * file)) ]
