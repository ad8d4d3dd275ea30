#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

pelt_result pelt_file_read(const pelt_host *host, const char *path, uint8_t **out, size_t *size)
{
    *out = NULL;
    *size = 0;
    /* Non-blocking, so that a named pipe is refused below instead of waited for. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        return pelt_fail(host, PELT_ERROR_IO, path, NULL, "cannot open: %s", strerror(errno));
    }
    struct stat status;
    pelt_result result = PELT_OK;
    uint8_t *bytes = NULL;
    if (fstat(descriptor, &status) != 0) {
        result = pelt_fail(host, PELT_ERROR_IO, path, NULL, "cannot read: %s", strerror(errno));
        goto done;
    }
    if (!S_ISREG(status.st_mode)) {
        result = pelt_fail(host, PELT_ERROR_IO, path, NULL, "not a regular file");
        goto done;
    }
    size_t length = (size_t)status.st_size;
    bytes = length < SIZE_MAX ? pelt_reallocate(host, NULL, length + 1) : NULL;
    if (!bytes) {
        result = pelt_fail(host, PELT_ERROR_MEMORY, path, NULL, "no memory for %zu bytes", length);
        goto done;
    }
    size_t have = 0;
    while (have < length) {
        size_t want = length - have < SSIZE_MAX ? length - have : SSIZE_MAX;
        ssize_t got = read(descriptor, bytes + have, want);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            result = pelt_fail(host, PELT_ERROR_IO, path, NULL, "cannot read: %s",
                               got < 0 ? strerror(errno) : "the file shrank");
            goto done;
        }
        have += (size_t)got;
    }
    bytes[length] = 0;
    *out = bytes;
    *size = length;
    bytes = NULL;
done:
    pelt_release(host, bytes);
    close(descriptor);
    return result;
}

pelt_result pelt_output_open(const pelt_host *host, const char *path, pelt_output *out)
{
    *out = (pelt_output){ .host = host, .path = path };
    /* A device or a pipe cannot be replaced by a file: it is written as it is. */
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
        out->stream = fopen(path, "wb");
        return out->stream ? PELT_OK
                           : pelt_fail(host, PELT_ERROR_IO, path, NULL, "cannot write: %s",
                                       strerror(errno));
    }
    /* In the same folder, under a name no longer than any: path's own may have no room to grow. */
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    static const char name[] = ".pelt-XXXXXX";
    out->temporary = pelt_allocate(host, folder + sizeof(name), 1);
    if (!out->temporary) {
        return pelt_fail(host, PELT_ERROR_MEMORY, path, NULL, "no memory");
    }
    memcpy(out->temporary, path, folder);
    memcpy(out->temporary + folder, name, sizeof(name));
    int descriptor = mkstemp(out->temporary);
    if (descriptor < 0) {
        int error = errno;
        pelt_release(host, out->temporary);
        out->temporary = NULL;
        return pelt_fail(host, PELT_ERROR_IO, path, NULL, "cannot write: %s", strerror(error));
    }
    /* mkstemp makes the file private; a new file follows the umask instead. */
    mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(descriptor, 0666 & ~mask);
    out->stream = fdopen(descriptor, "wb");
    if (!out->stream) {
        close(descriptor);
        pelt_output_discard(out);
        return pelt_fail(host, PELT_ERROR_MEMORY, path, NULL, "no memory");
    }
    return PELT_OK;
}

pelt_result pelt_output_write(pelt_output *output, const void *bytes, size_t size)
{
    if (ferror(output->stream)) {
        return PELT_ERROR_IO; /* said so already */
    }
    if (size != 0 && fwrite(bytes, 1, size, output->stream) != size) {
        return pelt_fail(output->host, PELT_ERROR_IO, output->path, NULL, "cannot write: %s",
                         strerror(errno));
    }
    return PELT_OK;
}

pelt_result pelt_output_commit(pelt_output *output)
{
    bool failed = fclose(output->stream) != 0;
    output->stream = NULL;
    if (failed || (output->temporary && rename(output->temporary, output->path) != 0)) {
        int error = errno;
        pelt_output_discard(output);
        return pelt_fail(output->host, PELT_ERROR_IO, output->path, NULL, "cannot write: %s",
                         strerror(error));
    }
    pelt_release(output->host, output->temporary);
    output->temporary = NULL;
    return PELT_OK;
}

void pelt_output_discard(pelt_output *output)
{
    if (output->stream) {
        (void)fclose(output->stream);
        output->stream = NULL;
    }
    if (output->temporary) {
        (void)unlink(output->temporary);
        pelt_release(output->host, output->temporary);
        output->temporary = NULL;
    }
}
