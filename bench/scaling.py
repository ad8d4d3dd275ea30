#!/usr/bin/env python3
"""How time and memory of reading and skinning on the CPU grow with a character's size.

    scaling.py PELT             times of the sample of 200,000 and of 2,000,000 vertices, the best
                                of three runs each, start of the process and writing of the
                                result included. Linear is a ratio of 10.
    scaling.py PELT --memory    fails if skinning one of 500,000 takes six times its file
"""
import os
import sys
import tempfile
import time

SIZES = (200_000, 2_000_000)


def run(*command):
    """Seconds and peak resident bytes of one process."""
    start = time.perf_counter()
    null = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawn(command[0], command, os.environ, file_actions=null)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        sys.exit("%s failed" % " ".join(command))
    return seconds, 1024 * usage.ru_maxrss


def best(*command):
    runs = [run(*command) for _ in range(3)]
    return min(r[0] for r in runs), max(r[1] for r in runs)


def sample(pelt, folder, vertices):
    """Path and size of a character's file."""
    path = os.path.join(folder, "%d.glb" % vertices)
    run(pelt, "sample", "--vertices", str(vertices), "-o", path)
    return path, os.path.getsize(path)


def check_memory(pelt, folder):
    path, file_size = sample(pelt, folder, 500_000)
    _, peak = run(pelt, "skin", path, "--device", "cpu", "-o", os.path.join(folder, "out.glb"))
    print("file %d bytes, peak %d, %.2f times the file" % (file_size, peak, peak / file_size))
    return 0 if peak < 6 * file_size else 1


def print_times(pelt, folder):
    output = os.path.join(folder, "out.glb")
    print("%10s %10s %10s %10s %10s" % ("vertices", "file MB", "info s", "skin s", "peak/file"))
    rows = []
    for vertices in SIZES:
        path, file_size = sample(pelt, folder, vertices)
        info, _ = best(pelt, "info", path)
        skin, peak = best(pelt, "skin", path, "--device", "cpu", "-o", output)
        rows.append((info, skin))
        print("%10d %10.1f %10.3f %10.3f %10.2f"
              % (vertices, file_size / 1e6, info, skin, peak / file_size))
    print("ratio of times: info %.2f, skin %.2f"
          % (rows[1][0] / rows[0][0], rows[1][1] / rows[0][1]))
    return 0


def main():
    pelt = os.path.realpath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        sys.exit((check_memory if "--memory" in sys.argv else print_times)(pelt, folder))


if __name__ == "__main__":
    main()
