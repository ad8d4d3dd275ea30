#!/usr/bin/env python3
"""Holds what rays hit against what is rasterised, on real characters: rays.py PELT

Instance, part and triangle of the middles of pixels agree in 99.8 % of a picture at least; where
they do, both see the same place. Models lie in $PELT_SHARED, or ../shared beside the source tree.
"""
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import exr

SIZE = 256
LEAST = 0.998
# Of the scene's size: rasterisers move corners by 1/512 of a pixel at most, here 1e-5 of the size,
# and more than that along a surface seen from its side.
FARTHEST = 1e-4
MODELS = ("godot/mannequiny.glb", "khronos/CesiumMan.glb", "khronos/Fox.glb",
          "quaternius/modular_women_Witch.glb", "quaternius/animals_pack_Alpaca.glb",
          "quaternius/single_knight_pack_KnightCharacter.glb")
IDS = ("hit", "instance", "part", "triangle")


def told(pelt, model, folder, path, aov):
    out = os.path.join(folder, "%s-%s.exr" % (path, aov))
    run = subprocess.run([pelt, "render", model, "-o", out, "--size", "%dx%d" % (SIZE, SIZE),
                          "--count", "2", "--path", path, "--aov", aov],
                         capture_output=True, text=True)
    if run.returncode == 3 and os.environ.get("PELT_REQUIRE_GPU") != "1":
        print("skipped: " + run.stderr)
        sys.exit(77)
    assert run.returncode == 0, run.stderr
    return exr.read(out)[2]


def rows(channels, names):
    return list(zip(*(channels[name] for name in names)))


def compare(pelt, model, folder):
    """The share of pixels that agree, how many are hit, and the farthest distance where they agree
    in parts of the scene's size."""
    ids = [rows(told(pelt, model, folder, path, "instance"), IDS) for path in ("compute", "rays")]
    places = [rows(told(pelt, model, folder, path, "position"), "XYZ")
              for path in ("compute", "rays")]
    seen = [p for p, i in zip(places[0], ids[0]) if i[0]]
    size = max(max(axis) - min(axis) for axis in zip(*seen))
    same = [a == b for a, b in zip(*ids)]
    farthest = max(math.dist(a, b) for a, b, s in zip(*places, same) if s)
    return sum(same) / len(same), len(seen), farthest / size


def main(pelt):
    models = os.path.join(os.environ.get("PELT_SHARED", "../shared"), "assets/models")
    if not os.path.isdir(models):
        print("skipped: %s is not there" % models)
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS:
            share, seen, farthest = compare(pelt, os.path.join(models, name), folder)
            good = share >= LEAST and farthest <= FARTHEST and seen > SIZE * SIZE // 50
            failed += not good
            print("%-6s %.4f %% agree, %d pixels hit, places within %.1e of the size: %s"
                  % ("ok" if good else "FAILED", 100 * share, seen, farthest, name))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
