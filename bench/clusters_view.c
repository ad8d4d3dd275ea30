/* The cameras of the cluster bench. */
#include "bench/clusters_internal.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

typedef struct camera {
    double eye[3], target[3];
    double tan_half; /* of the vertical field of view */
    double near, far;
} camera;

/* All: the sphere around the crowd fits between the planes above and below. Tenth: from the middle,
 * at the height of heads, 36 of 360 degrees across. */
static camera place(const pelt_bench_clusters_data *data, pelt_bench_cluster_camera which)
{
    const pelt_box *box = &data->bind;
    double tall = (double)box->max[1] - box->min[1], middle = box->min[1] + 0.5 * tall;
    double half = 0.5 * pelt_bench_clusters_spacing(data) * pelt_bench_clusters_columns(data);
    double radius = sqrt(2.0) * half + tall;
    if (which == PELT_BENCH_CAMERA_TENTH) {
        double aspect = (double)data->settings->width / data->settings->height;
        return (camera){ .eye = { 0, box->min[1] + 0.9 * tall, 0 },
                         .target = { 0, middle, half },
                         .tan_half = tan(18.0 / 180.0 * pi) / aspect,
                         .near = 0.01 * tall,
                         .far = 2 * radius };
    }
    double angle = 15.0 / 180.0 * pi;
    double distance = radius / sin(angle) * (which == PELT_BENCH_CAMERA_FAR ? 4 : 1);
    return (camera){ .eye = { 0, middle + 0.5 * distance, -sqrt(0.75) * distance },
                     .target = { 0, middle, 0 },
                     .tan_half = tan(angle),
                     .near = 0.01 * distance,
                     .far = 2 * distance };
}

/* By columns; y down in the picture. */
static void make_clip(const camera *c, double aspect, float clip[16])
{
    double z[3], length = 0;
    for (int i = 0; i < 3; i++) {
        z[i] = c->target[i] - c->eye[i];
        length += z[i] * z[i];
    }
    for (int i = 0; i < 3; i++) {
        z[i] /= sqrt(length);
    }
    double across = hypot(z[0], z[2]);
    const double x[3] = { -z[2] / across, 0, z[0] / across };
    const double down[3] = { z[1] * x[2], z[2] * x[0] - z[0] * x[2], -z[1] * x[0] };
    double depth = c->far / (c->far - c->near);
    double rows[4][4] = { { 0 } };
    for (int i = 0; i < 3; i++) {
        rows[0][i] = x[i] / (c->tan_half * aspect);
        rows[1][i] = down[i] / c->tan_half;
        rows[2][i] = z[i] * depth;
        rows[3][i] = z[i];
        for (int r = 0; r < 4; r++) {
            rows[r][3] -= rows[r][i] * c->eye[i];
        }
    }
    rows[2][3] -= c->near * depth;
    for (int i = 0; i < 16; i++) {
        clip[i] = (float)rows[i % 4][i / 4];
    }
}

static pelt_result write(const pelt_bench_clusters_data *data, const pelt_cluster_view *view,
                         const pelt_buffer *buffer)
{
    char bytes[PELT_CLUSTER_VIEW_SIZE];
    pelt_result result = pelt_cluster_view_write(data->bench->host, view, bytes);
    return result == PELT_OK
               ? pelt_buffer_upload(data->bench->device, buffer, 0, bytes, sizeof(bytes))
               : result;
}

pelt_result pelt_bench_clusters_look(const pelt_bench_clusters_data *data,
                                     pelt_bench_cluster_camera which, bool levels)
{
    const pelt_bench_clusters_settings *settings = data->settings;
    const camera c = place(data, which);
    float clip[16];
    make_clip(&c, (double)settings->width / settings->height, clip);
    pelt_cluster_view view = { .clip = clip,
                               .eye = { c.eye[0], c.eye[1], c.eye[2] },
                               .pixels = settings->height / (2 * c.tan_half),
                               .most_error = settings->most_error,
                               .lod = levels ? PELT_LOD_AUTO : 0,
                               .cull = true };
    pelt_result result = write(data, &view, &data->view);
    view.lod = 0;
    view.cull = false;
    return result == PELT_OK ? write(data, &view, &data->view_of_all) : result;
}
