#!/usr/bin/env python3
"""Runs an example on the built-in character and on one with morph targets and two parts, and holds
its boxes against those of `pelt skin --device cpu`; or, of a crowd, its hands against what they
reach for: test_examples.py PELT EXAMPLE FOLDER

Writes into FOLDER. Exits with 77 where the example finds no Vulkan device, unless
PELT_REQUIRE_GPU=1.
"""
import json
import os
import re
import struct
import subprocess
import sys

PELT, EXAMPLE, FOLDER = sys.argv[1:]
NUMBER = r"(-?[\d.]+(?:e[+-]\d+)?)"
BOX = r"node (\d+):.* box \({0} {0} {0}\) to \({0} {0} {0}\)$".format(NUMBER)
INSTANCE = r"instance (\d+) at \({0} 0 {0}\), {0} s, ".format(NUMBER)


def run(*command, code=0, **options):
    process = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                             timeout=120, **options)
    assert process.returncode == code, (command, process.returncode, process.stdout, process.stderr)
    return process


def floats(*values):
    return struct.pack("<%df" % len(values), *values)


def write_plates(path):
    """Two plates, the second under a node at (3 0 0): a target moves their first corner by (0 0 5),
    and a clip of one second raises its weight from 0 to 1."""
    chunks = [floats(0, 0, 0, 1, 0, 0, 0, 2, 0), floats(0, 0, 5, 0, 0, 0, 0, 0, 0), floats(0, 1),
              floats(0, 1)]
    views, offset = [], 0
    for chunk in chunks:
        views.append({"buffer": 0, "byteOffset": offset, "byteLength": len(chunk)})
        offset += len(chunk)
    rows = {"componentType": 5126, "type": "VEC3", "count": 3}
    keys = {"componentType": 5126, "type": "SCALAR", "count": 2}
    primitive = {"attributes": {"POSITION": 0}, "targets": [{"POSITION": 1}]}
    doc = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 1]}],
           "nodes": [{"mesh": 0}, {"mesh": 0, "translation": [3, 0, 0]}],
           "meshes": [{"primitives": [primitive]}],
           "animations": [{"samplers": [{"input": 2, "output": 3}],
                           "channels": [{"sampler": 0, "target": {"node": node, "path": "weights"}}
                                        for node in (0, 1)]}],
           "accessors": [{"bufferView": 0, "min": [0, 0, 0], "max": [1, 2, 0], **rows},
                         {"bufferView": 1, "min": [0, 0, 0], "max": [0, 0, 5], **rows},
                         {"bufferView": 2, "min": [0], "max": [1], **keys},
                         {"bufferView": 3, **keys}],
           "bufferViews": views, "buffers": [{"byteLength": offset, "uri": "plates.bin"}]}
    with open(os.path.join(FOLDER, "plates.bin"), "wb") as file:
        file.write(b"".join(chunks))
    with open(path, "w") as file:
        json.dump(doc, file)


def skin(path, time):
    """The parts' boxes from the CPU: (node, six numbers) each."""
    process = run(PELT, "skin", path, "-o", os.path.join(FOLDER, "skinned.glb"), "--device", "cpu",
                  "--clip", "0", "--time", time, "--loop", "--json")
    result = json.loads(process.stdout)
    return [(part["node"], part["min"] + part["max"]) for part in result["primitives"]]


def check_box(box, wanted, offset):
    """Both paths round a few times at the size of the coordinates, and seven digits are printed."""
    scale = max(map(abs, box)) + max(map(abs, wanted))
    for i, number in enumerate(box):
        assert abs(number - wanted[i] - offset[i % 3]) <= 2e-6 * scale, (box, wanted, offset)


def check_cpu(path):
    lines = run(EXAMPLE, path).stdout.splitlines()
    parts = skin(path, "0.5")
    assert len(lines) == len(parts), lines
    for line, (node, wanted) in zip(lines, parts):
        found = re.match(BOX, line)
        assert found and int(found[1]) == node, line
        check_box(list(map(float, found.groups()[1:])), wanted, (0, 0, 0))


def check_vulkan(path, count, members):
    """members: those whose boxes are compared. Nothing may be said on standard error: neither by
    the validation layers nor, where PELT_VALIDATION=1 asks for them, of their absence."""
    process = run(EXAMPLE, path, count)
    assert process.stderr == "", process.stderr
    frames = re.findall(r"^frame (\d): skinned in [\d.]+ ms$", process.stdout, re.M)
    assert frames == list("01234567"), process.stdout
    lines = re.findall(r"^instance.*$", process.stdout, re.M)
    parts = len(lines) // count
    assert parts > 0 and len(lines) == parts * count, len(lines)
    for member in members:
        block = lines[member * parts:(member + 1) * parts]
        founds = [re.match(INSTANCE + BOX, line) for line in block]
        assert all(founds), block
        for found, (node, wanted) in zip(founds, skin(path, founds[0][4]), strict=True):
            assert (int(found[1]), int(found[5])) == (member, node), block
            box = list(map(float, found.groups()[5:]))
            check_box(box, wanted, (float(found[2]), 0, float(found[3])))
    assert len({line.split("box")[1] for line in lines}) == len(lines), "instances stand apart"


def check_crowd(path, count, live):
    """One call for a mesh; hands of live agents are where the arithmetic of their arms wants them."""
    picture = os.path.join(FOLDER, "crowd.ppm")
    process = run(EXAMPLE, path, count, picture)
    found = re.search(r"(\d+) of (\d+) members in view, 10 posed live, (\d+) draw calls?$",
                      process.stdout, re.M)
    seen, members, calls = map(int, found.groups())
    assert members == count and 0 < seen <= count, found[0]
    assert calls == (1 if live else 2), found[0]
    agents = re.findall(r"^agent (\d), .*, ([\d.]+e[-+]\d+) from where it shall be$", process.stdout,
                        re.M)
    assert [int(agent) for agent, _ in agents] == (list(range(10)) if live else []), process.stdout
    assert all(float(off) < 1e-5 for _, off in agents), agents
    with open(picture, "rb") as file:
        data = file.read()
    assert data.startswith(b"P6\n1280 720\n255\n") and len(data) == 16 + 3 * 1280 * 720
    if live:
        assert process.stderr == "", process.stderr
        # Members cover a part of the picture that differs from the sky.
        sky = data[16:19]
        covered = sum(data[i:i + 3] != sky for i in range(16, len(data), 3))
        assert covered > 1280 * 720 / 20, covered


def main():
    os.makedirs(FOLDER, exist_ok=True)
    sample = os.path.join(FOLDER, "sample.glb")
    plates = os.path.join(FOLDER, "plates.gltf")
    vertices = 600 if "crowd" in os.path.basename(EXAMPLE) else 3000
    run(PELT, "sample", "-o", sample, "--vertices", vertices)
    write_plates(plates)
    if "cpu" in os.path.basename(EXAMPLE):
        assert "missing.glb" in run(EXAMPLE, "missing.glb", code=1).stderr
        check_cpu(sample)
        check_cpu(plates)
        return
    nothing = dict(os.environ, VK_DRIVER_FILES="/nonexistent", VK_ICD_FILENAMES="/nonexistent")
    assert run(EXAMPLE, sample, code=3, env=nothing).stderr
    probe = subprocess.run([EXAMPLE, sample, "10"], capture_output=True, text=True, timeout=120)
    if probe.returncode == 3 and os.environ.get("PELT_REQUIRE_GPU") != "1":
        print("skipped: " + probe.stderr)
        sys.exit(77)
    assert "missing.glb" in run(EXAMPLE, "missing.glb", code=1).stderr
    if "crowd" in os.path.basename(EXAMPLE):
        check_crowd(sample, 5000, True)
        check_crowd(plates, 10, False)
        return
    check_vulkan(sample, 100, (0, 1, 57, 99))
    check_vulkan(plates, 12, (0, 5, 11))


main()
