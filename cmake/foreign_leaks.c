/* Linked into every program of a sanitizer build: leaks of foreign libraries, and of those alone,
 * that LeakSanitizer shall not report. Nothing of pelt's own may be named here. */

/* The sanitizer's and other libraries must find these functions in the program. */
#define EXPORTED __attribute__((visibility("default")))

EXPORTED const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libvulkan_lvp.so\n"              /* Mesa's software driver */
           "leak:libVkLayer_khronos_validation\n" /* the validation layers */
           "leak:libvulkan.so\n"                  /* the loader */
           "leak:libLLVM\n";                      /* the driver's code generator */
}

/* Programs say nothing of it: their output is compared. */
EXPORTED const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

/* The loader unloads drivers and layers before the process ends, and then LeakSanitizer can no
 * longer tell whose a leak is. So nothing is ever unloaded. */
EXPORTED int dlclose(void *handle);
int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
