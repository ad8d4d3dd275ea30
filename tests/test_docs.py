#!/usr/bin/env python3
"""The snippets of the documents compile: test_docs.py GLSLC CC [OPTION...]

Each GLSL block, also of docs/crowds.md, is a whole shader and says its stage. The C blocks follow one another in a function,
which is given what the text takes for granted. Options go to the C compiler. Runs in the source
tree's root.
"""
import os
import re
import subprocess
import sys
import tempfile

SETTING = """
#include <pelt/pelt.h>
#include <pelt/pose_pass.h>
#include <pelt/vulkan.h>

void barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags wrote,
             VkPipelineStageFlags to, VkAccessFlags reads);
pelt_result integrate(pelt_skin_pass *pass, const pelt_gpu_mesh *meshes, uint32_t mesh_count,
                      pelt_gpu_instance *instances, uint32_t instance_count,
                      const pelt_model *model, uint32_t p, uint32_t n, VkDeviceAddress matrices,
                      VkDeviceAddress animated, VkDeviceAddress tangents, VkDeviceAddress boxes,
                      const pelt_host *host, const pelt_pose_pass *pose_pass,
                      VkDeviceAddress rig_address, VkDeviceAddress hands, const double *world,
                      double now, double began, double second_of_clip, uint32_t rig_neighbours,
                      void *instance_memory, VkDeviceAddress instance_address,
                      void *pose_table_memory, VkDeviceAddress pose_table_address,
                      VkDeviceAddress pose_scratch_address, uint32_t frame_number,
                      void *table_memory, VkDeviceAddress table_address,
                      VkDeviceAddress scratch_address, VkCommandBuffer commands);

pelt_result integrate(pelt_skin_pass *pass, const pelt_gpu_mesh *meshes, uint32_t mesh_count,
                      pelt_gpu_instance *instances, uint32_t instance_count,
                      const pelt_model *model, uint32_t p, uint32_t n, VkDeviceAddress matrices,
                      VkDeviceAddress animated, VkDeviceAddress tangents, VkDeviceAddress boxes,
                      const pelt_host *host, const pelt_pose_pass *pose_pass,
                      VkDeviceAddress rig_address, VkDeviceAddress hands, const double *world,
                      double now, double began, double second_of_clip, uint32_t rig_neighbours,
                      void *instance_memory, VkDeviceAddress instance_address,
                      void *pose_table_memory, VkDeviceAddress pose_table_address,
                      VkDeviceAddress pose_scratch_address, uint32_t frame_number,
                      void *table_memory, VkDeviceAddress table_address,
                      VkDeviceAddress scratch_address, VkCommandBuffer commands)
{
%s
    return PELT_OK;
}
"""

# What docs/ray-tracing.md takes for granted.
RAY_SETTING = """
#include <pelt/history.h>
#include <pelt/ray.h>

pelt_result trace(pelt_skin_pass *pass, const pelt_skin_tables tables, const pelt_gpu_mesh *meshes,
                  pelt_gpu_instance *instance, uint32_t n, uint32_t count,
                  const pelt_ray_pass *rays, pelt_ray_scene *scene, pelt_history *history,
                  pelt_ray_geometry *geometries, pelt_ray_blas *structures,
                  const pelt_ray_indices *indices, const pelt_ray_sizes *sizes,
                  const pelt_ray_structure *memory, const pelt_ray_structure *top,
                  VkDeviceAddress records, VkDeviceAddress outputs, VkDeviceAddress slot_size,
                  VkDeviceAddress table_address, VkDeviceAddress skin_scratch,
                  VkDeviceAddress scratch, VkDeviceAddress top_scratch, bool rests, bool cut,
                  uint64_t lod, VkCommandBuffer commands);

pelt_result trace(pelt_skin_pass *pass, const pelt_skin_tables tables, const pelt_gpu_mesh *meshes,
                  pelt_gpu_instance *instance, uint32_t n, uint32_t count,
                  const pelt_ray_pass *rays, pelt_ray_scene *scene, pelt_history *history,
                  pelt_ray_geometry *geometries, pelt_ray_blas *structures,
                  const pelt_ray_indices *indices, const pelt_ray_sizes *sizes,
                  const pelt_ray_structure *memory, const pelt_ray_structure *top,
                  VkDeviceAddress records, VkDeviceAddress outputs, VkDeviceAddress slot_size,
                  VkDeviceAddress table_address, VkDeviceAddress skin_scratch,
                  VkDeviceAddress scratch, VkDeviceAddress top_scratch, bool rests, bool cut,
                  uint64_t lod, VkCommandBuffer commands)
{
    pelt_result result;
%s
    return PELT_OK;
}
"""


def compile_with(command, suffix, text):
    with tempfile.NamedTemporaryFile("w", suffix=suffix) as file:
        file.write(text)
        file.flush()
        run = subprocess.run([*command, file.name], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit("a document has:\n%s\n%s%s" % (text, run.stdout, run.stderr))


def main(glslc, *cc):
    text = open("docs/integration.md", encoding="utf-8").read()
    blocks = {language: re.findall(r"^```%s\n(.*?)^```$" % language, text, re.S | re.M)
              for language in ("glsl", "c")}
    assert all(blocks.values()), "docs/integration.md has no snippets"
    crowds = open("docs/crowds.md", encoding="utf-8").read()
    blocks["glsl"] += re.findall(r"^```glsl\n(.*?)^```$", crowds, re.S | re.M)
    for block in blocks["glsl"]:
        compile_with([glslc, "--target-env=vulkan1.2", "-Werror", "-I", "shaders",
                      "-o", os.devnull],
                     ".glsl", block)
    rays = open("docs/ray-tracing.md", encoding="utf-8").read()
    ray_blocks = re.findall(r"^```c\n(.*?)^```$", rays, re.S | re.M)
    assert ray_blocks, "docs/ray-tracing.md has no snippets"
    for setting, snippets in ((SETTING, blocks["c"]), (RAY_SETTING, ray_blocks)):
        compile_with([*cc, "-std=c17", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable",
                      "-fsyntax-only", "-I", "include"], ".c", setting % "\n".join(snippets))
    blocks["c"] += ray_blocks
    print("compiled %d shaders and %d pieces of C" % tuple(map(len, blocks.values())))


main(*sys.argv[1:])
