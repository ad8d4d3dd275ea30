#include "base/base.h"

const char *pelt_result_string(pelt_result result)
{
    switch (result) {
    case PELT_OK:
        return "ok";
    case PELT_ERROR_ARGUMENT:
        return "invalid argument";
    case PELT_ERROR_MEMORY:
        return "out of memory";
    case PELT_ERROR_IO:
        return "input or output failed";
    case PELT_ERROR_FILE:
        return "invalid file";
    case PELT_ERROR_UNSUPPORTED:
        return "unsupported";
    case PELT_ERROR_RANGE:
        return "number out of range";
    case PELT_ERROR_DEVICE:
        return "no suitable Vulkan device";
    case PELT_ERROR_VULKAN:
        return "Vulkan call failed";
    }
    return "unknown result";
}

const char *pelt_version(void)
{
    return PELT_VERSION_STRING;
}

static void report(const pelt_host *host, pelt_severity severity, pelt_result result,
                   const char *file, const char *pointer, const char *format, va_list arguments)
{
    if (!host || !host->message) {
        return;
    }
    char text[1024];
    (void)vsnprintf(text, sizeof(text), format, arguments);
    host->message(host->user, &(pelt_message){ .severity = severity,
                                               .result = result,
                                               .file = file,
                                               .pointer = pointer,
                                               .text = text });
}

pelt_result pelt_fail(const pelt_host *host, pelt_result result, const char *file,
                      const char *pointer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(host, PELT_ERROR, result, file, pointer, format, arguments);
    va_end(arguments);
    return result;
}

void pelt_warn(const pelt_host *host, const char *file, const char *pointer, const char *format,
               ...)
{
    va_list arguments;
    va_start(arguments, format);
    report(host, PELT_WARNING, PELT_OK, file, pointer, format, arguments);
    va_end(arguments);
}
