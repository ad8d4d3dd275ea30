/* pelt study twist: a limb of two joints that is twisted and bent, by linear blending and by dual
 * quaternions: the volume that it keeps, where it gets thin, and where it bulges. */
#ifndef PELT_STUDY_TWIST_H
#define PELT_STUDY_TWIST_H

#include "plot/canvas.h"

#include <pelt/model.h>

enum { PELT_TWIST_METHOD_COUNT = 2 };

typedef struct pelt_twist_name {
    const char *name, *words;
} pelt_twist_name;
extern const pelt_twist_name pelt_twist_methods[PELT_TWIST_METHOD_COUNT]; /* lbs, dqs */

typedef enum pelt_twist_motion {
    PELT_TWIST_ABOUT, /* the second joint turns about the limb */
    PELT_TWIST_BEND   /* or across it, about a point inside, halfway along */
} pelt_twist_motion;

/* The study squash's limb: rings of vertices, closed at both ends, three doubles a vertex. */
typedef struct pelt_twist_limb {
    const pelt_host *host;
    uint32_t rings, around;
    uint32_t vertex_count;
    pelt_primitive rest;
    double *positions, *normals; /* as posed last, by the library's reference */
} pelt_twist_limb;

/* rings odd and at least 3, around at least 3. Errors: PELT_ERROR_ARGUMENT, PELT_ERROR_MEMORY. */
pelt_result pelt_twist_create(const pelt_host *host, uint32_t rings, uint32_t around,
                              pelt_twist_limb **out);
void pelt_twist_destroy(pelt_twist_limb *limb);

void pelt_twist_pose(pelt_twist_limb *limb, uint32_t method, pelt_twist_motion motion,
                     double degrees);

/* What its surface encloses; what lies inside twice where it passes through itself counts twice. */
double pelt_twist_volume(const pelt_twist_limb *limb);

/* The area within the ring in the middle. */
double pelt_twist_middle(const pelt_twist_limb *limb);

/* How far the surface lies from the point that it bends about, on the outside of the bend halfway
 * between both halves; and from the axis of the half that stands still. */
double pelt_twist_outside(const pelt_twist_limb *limb, double degrees);
double pelt_twist_swelling(const pelt_twist_limb *limb);

/* All as parts of those at rest. */
typedef struct pelt_twist_point {
    double degrees;
    double volume[PELT_TWIST_METHOD_COUNT];
    double middle[PELT_TWIST_METHOD_COUNT]; /* of twists, the others of bends */
    double outside[PELT_TWIST_METHOD_COUNT], swelling[PELT_TWIST_METHOD_COUNT];
} pelt_twist_point;

void pelt_twist_measure(pelt_twist_limb *limb, pelt_twist_motion motion, double degrees,
                        pelt_twist_point *out);

/* Curves over the angle. */
enum {
    PELT_TWIST_STEP = 5, /* degrees */
    PELT_TWIST_POINTS = 360 / PELT_TWIST_STEP + 1,
    PELT_BEND_POINTS = 150 / PELT_TWIST_STEP + 1
};
typedef struct pelt_twist_curves {
    pelt_twist_point twist[PELT_TWIST_POINTS], bend[PELT_BEND_POINTS];
} pelt_twist_curves;
void pelt_twist_run(pelt_twist_limb *limb, pelt_twist_curves *out);

pelt_result pelt_twist_plot(const pelt_host *host, const char *path,
                            const pelt_twist_curves *curves);

/* Both methods in rows, angles in columns; twisted above, bent below. The canvas is the caller's to
 * destroy. */
pelt_result pelt_twist_draw(pelt_twist_limb *limb, const pelt_twist_curves *curves,
                            pelt_canvas *out);

#endif
