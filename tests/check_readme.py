#!/usr/bin/env python3
"""The program printed in README.md is examples/skin_cpu.c, which the build compiles."""
import re
import sys

readme = open("README.md", encoding="utf-8").read()
programs = re.findall(r"```c\n(.*?)```", readme, re.S)
if open("examples/skin_cpu.c", encoding="utf-8").read() not in programs:
    sys.exit("README.md does not print examples/skin_cpu.c as it is")
