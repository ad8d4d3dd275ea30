/* Feeds arbitrary bytes to the reader of baked palettes. What is accepted must decode at any time,
 * by any interpolation, to finite numbers.
 *
 *     fuzz_bake CORPUS_FOLDER SEED_FOLDER... -max_len=65536
 */
#include <math.h>
#include <pelt/bake.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void decode(const pelt_bake *bake, uint32_t clip, double *matrices)
{
    for (int i = -1; i <= 9; i++) {
        double time = bake->clips[clip].duration / 8 * i;
        pelt_bake_place place = pelt_bake_locate(&bake->clips[clip], time, i % 2 != 0);
        for (int how = 0; how < PELT_BAKE_INTERPOLATIONS; how++) {
            pelt_bake_decode(bake, &place, (pelt_bake_interpolation)how, matrices);
            for (size_t k = 0; k < 12 * (size_t)bake->joint_count; k++) {
                if (!isfinite(matrices[k])) {
                    abort();
                }
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    pelt_bake *bake = NULL;
    pelt_result result = pelt_bake_read_memory(NULL, "fuzz", bytes, size, &bake);
    if ((bake != NULL) != (result == PELT_OK)) {
        abort();
    }
    double *matrices = bake ? calloc(bake->joint_count, 12 * sizeof(double)) : NULL;
    for (uint32_t i = 0; matrices && i < bake->clip_count; i++) {
        decode(bake, i, matrices);
    }
    free(matrices);
    pelt_bake_destroy(bake);
    return 0;
}
