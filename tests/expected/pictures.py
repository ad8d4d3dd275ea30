#!/usr/bin/env python3
"""Holds pictures that mesh shaders draw, level of detail 0, against those of the skin pass, on real
characters: pictures.py PELT [EVERY]

At most 1 in 1,000 pixels may differ, by any amount. EVERY: one of so many models, spread over all
(default 1: all). Models lie in $PELT_SHARED, or ../shared beside the source tree.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from test_cli import pixels

WIDTH, HEIGHT = 160, 120
MOST = WIDTH * HEIGHT // 1000
REFUSABLE = "KHR_draco_mesh_compression|its scene has no mesh"


def differing(a, b):
    step = len(a) // (WIDTH * HEIGHT)
    return sum(a[i:i + step] != b[i:i + step] for i in range(0, len(a), step))


def render(pelt, model, out, path):
    run = subprocess.run([pelt, "render", model, "-o", out, "--size", "%dx%d" % (WIDTH, HEIGHT),
                          "--count", "2", "--path", path], capture_output=True, text=True)
    return run.returncode, run.stderr


def main(pelt, every=1):
    models = os.path.join(os.environ.get("PELT_SHARED", "../shared"), "assets/models")
    if not os.path.isdir(models):
        print("skipped: %s is not there" % models)
        return 77
    found = sorted(os.path.join(folder, name) for folder, _, names in os.walk(models)
                   for name in names if name.endswith((".glb", ".gltf")))
    counts = {"passed": 0, "refused": 0, "failed": 0}
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = os.path.join(folder, "mesh.png"), os.path.join(folder, "compute.png")
        for model in found[::every]:
            code, said = render(pelt, model, ours, "mesh")
            if code == 3 and os.environ.get("PELT_REQUIRE_GPU") != "1":
                print("skipped: " + said)
                return 77
            if code == 1 and re.search(REFUSABLE, said):
                counts["refused"] += 1
                continue
            if code == 0:
                code, said = render(pelt, model, theirs, "compute")
            if code != 0:
                verdict = "exit %d\n%s" % (code, said)
            else:
                count = differing(pixels(ours), pixels(theirs))
                worst = max(worst, count)
                verdict = "" if count <= MOST else "%d pixels differ" % count
            counts["failed" if verdict else "passed"] += 1
            if verdict:
                print("FAIL %s: %s" % (model, verdict), flush=True)
    print("%(passed)d passed, %(refused)d refused, %(failed)d failed" % counts,
          "(%d of %d pixels differ at most)" % (worst, WIDTH * HEIGHT))
    return 0 if counts["passed"] and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
