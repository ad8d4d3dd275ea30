/* pelt study squash: which way of turning normals is how far from the normals of the surface that
 * skinning makes. A smooth limb of two joints is posed in the ways that tell the methods apart. */
#ifndef PELT_STUDY_SQUASH_H
#define PELT_STUDY_SQUASH_H

#include "plot/canvas.h"

typedef enum pelt_squash_method {
    PELT_SQUASH_COFACTOR,        /* of the blended matrix: pelt's */
    PELT_SQUASH_INVERSE,         /* transposed, of the blended matrix */
    PELT_SQUASH_JOINT_INVERSES,  /* transposed, of each joint's, blended */
    PELT_SQUASH_JOINT_COFACTORS, /* each joint's turns the normal; unit normals are blended:
                                    Filament's */
    PELT_SQUASH_PLAIN,           /* the blended matrix itself */
    PELT_SQUASH_METHOD_COUNT
} pelt_squash_method;

typedef struct pelt_squash_name {
    const char *name;
    const char *summary; /* a line */
} pelt_squash_name;

extern const pelt_squash_name pelt_squash_methods[PELT_SQUASH_METHOD_COUNT];

enum { PELT_SQUASH_CASE_COUNT = 13 };
extern const pelt_squash_name pelt_squash_cases[PELT_SQUASH_CASE_COUNT];

/* Of one method in one case. Angles are those between lines, in radians, up to half pi: which side
 * a normal points to is counted apart. All are over the limb's surface before it was posed. */
typedef struct pelt_squash_error {
    double mean, worst;
    double flipped; /* the part whose normals point against the order of the triangles' vertices */
} pelt_squash_error;

/* The limb in one case. Three doubles a vertex. */
typedef struct pelt_squash_limb {
    const pelt_host *host;
    uint32_t which;         /* case */
    uint32_t rings, around; /* rings of so many vertices each, end to end */
    uint32_t vertex_count;
    double *positions, *truth;
    double *weights; /* of the second joint; one a vertex */
    double *normals[PELT_SQUASH_METHOD_COUNT];
    pelt_squash_error errors[PELT_SQUASH_METHOD_COUNT];
} pelt_squash_limb;

/* rings at least 3, odd ones have one where the weights are halves; around at least 3. */
pelt_result pelt_squash_create(const pelt_host *host, uint32_t which, uint32_t rings,
                               uint32_t around, pelt_squash_limb **out);
void pelt_squash_destroy(pelt_squash_limb *limb);

/* The same of a character in poses of its clips. Its surface is that of its triangles, over which
 * weights change linearly: their gradient at a vertex is the mean, by area, of the triangles that
 * meet in its place. Morph targets stay at rest; parts without normals get smooth ones. */
typedef struct pelt_squash_character {
    const char *name; /* path, or that of the built-in one */
    uint32_t poses;
    uint64_t vertices;
    struct {
        double mean;    /* radians, over surface and poses */
        double most;    /* what 99 % of these do not exceed, to a tenth of a degree */
        double flipped; /* as above */
    } errors[PELT_SQUASH_METHOD_COUNT];
} pelt_squash_character;

/* path NULL: the built-in character. Errors: those of pelt_study_character_open; PELT_ERROR_FILE
 * without a skinned triangle. */
pelt_result pelt_squash_character_run(const pelt_host *host, const char *path,
                                      uint32_t poses_a_clip, pelt_squash_character *out);

/* Pictures of limbs side by side: a row for each that is added, the truth and every method in
 * columns, shaded by the method's normals and below in the colours of the angles. */
typedef struct pelt_squash_sheet {
    pelt_canvas canvas;
    uint32_t row_count;
} pelt_squash_sheet;

pelt_result pelt_squash_sheet_create(const pelt_host *host, uint32_t rows, pelt_squash_sheet *out);
pelt_result pelt_squash_sheet_add(pelt_squash_sheet *sheet, const pelt_squash_limb *limb);
void pelt_squash_sheet_destroy(pelt_squash_sheet *sheet);

#endif
