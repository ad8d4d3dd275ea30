#include "bake/bake.h"

#include <math.h>

pelt_result pelt_bake_search(pelt_baker *baker, uint32_t index, double *rate)
{
    const pelt_bake_info *info = baker->info;
    const pelt_bake_timeline *timeline = &baker->timelines[index];
    double most = info->max_rate > 0 ? info->max_rate : 240, where = -1;
    /* No more rows than could be placed. */
    double rows_max = (double)(info->max_size ? info->max_size : PELT_BAKE_SIZE) *
                      (info->max_layers ? info->max_layers : PELT_BAKE_LAYERS);
    bool keeps = false;
    for (int n = 0;; n++) {
        double rows = 0;
        *rate = n < 3 ? ldexp(1, n - 3) : n - 2; /* 1/8, 1/4, 1/2, 1, 2, ... */
        if (*rate > most) {
            break;
        }
        for (size_t i = 0; i <= timeline->jumps.count; i++) {
            pelt_bake_stretch stretch = pelt_bake_timeline_stretch(timeline, i);
            rows += pelt_bake_stretch_rows(&stretch, *rate);
        }
        if (rows > rows_max) {
            most = *rate;
            break;
        }
        pelt_baker_progress(baker, index, 0, 1);
        pelt_result result = pelt_bake_try_rate(baker, index, *rate, &where, &keeps);
        if (result != PELT_OK || keeps) {
            return result;
        }
    }
    char pointer[32];
    (void)snprintf(pointer, sizeof(pointer), "/animations/%d", baker->bake->clips[index].clip);
    return pelt_fail(
        baker->host, PELT_ERROR_RANGE, NULL, pointer,
        "no rate up to %g frames a second keeps the error within %g: at %g s it is more", most,
        info->error, where);
}
