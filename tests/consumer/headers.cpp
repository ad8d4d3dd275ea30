// The public headers are valid C++, and their functions have C linkage.
#include <pelt/pelt.h>
#ifdef EXPECT_VULKAN
#include <pelt/cluster_pass.h>
#include <pelt/crowd.h>
#include <pelt/pose_pass.h>
#include <pelt/ray.h>
#include <pelt/vulkan.h>
#include <pelt/vulkan_open.h>
#endif

extern "C" const char *version_from_cpp()
{
    return pelt_version();
}
