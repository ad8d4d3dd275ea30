/* SPDX-License-Identifier: MIT */
/* pelt/model.h: a glTF character in memory: nodes, meshes, skins, clips, materials.
 *
 * Plain data. Everything a model points to lives in the model's own memory (pelt_model_allocate)
 * and goes with pelt_model_destroy; no two things share an array. Counts are 0 and pointers NULL
 * where there is nothing. pelt_gltf_read fills and validates one; whoever builds one by hand calls
 * pelt_model_finish.
 */
#ifndef PELT_MODEL_H
#define PELT_MODEL_H

#include <pelt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* glTF's primitive.mode values. */
typedef enum pelt_topology {
    PELT_POINTS = 0,
    PELT_LINES = 1,
    PELT_LINE_LOOP = 2,
    PELT_LINE_STRIP = 3,
    PELT_TRIANGLES = 4,
    PELT_TRIANGLE_STRIP = 5,
    PELT_TRIANGLE_FAN = 6
} pelt_topology;

/* Displacements, added before skinning; 3 floats a vertex, NULL where the target has none. */
typedef struct pelt_morph_target {
    float *positions;
    float *normals;
    float *tangents;
} pelt_morph_target;

typedef struct pelt_primitive {
    pelt_topology topology;
    uint32_t vertex_count; /* > 0 */
    float *positions;      /* 3 a vertex; finite, magnitude <= PELT_MAGNITUDE_MAX */
    float *normals;        /* 3 a vertex, unit (zero where the file had none to give), or NULL */
    float *tangents;       /* 4 a vertex, xyz unit, w = +1 or -1, or NULL */
    float *texcoords;      /* 2 a vertex, the set the base-colour texture names, or NULL */
    float *colors;         /* 4 a vertex, linear RGBA (COLOR_0), or NULL */

    /* Influences: slots a vertex has, 4 x number of JOINTS_n sets; 0 = not skinned.
     * weights are >= 0 and sum to 1 within float rounding; a slot of weight 0 has joint 0.
     * joints index the joints of the skin of the node that uses the mesh. */
    uint32_t influence_count;
    uint16_t *joints;
    float *weights;

    uint32_t index_count; /* 0: not indexed */
    uint32_t *indices;    /* each < vertex_count */

    uint32_t target_count; /* equal for all primitives of a mesh */
    pelt_morph_target *targets;

    int32_t material; /* -1: glTF's default material */

    /* Where vertices were split (pelt_model_add_normals, pelt_model_add_tangents): the file's
     * vertex that each one came from. NULL: vertices are the file's own. */
    uint32_t *source_vertices;
} pelt_primitive;

typedef struct pelt_mesh {
    char *name; /* or NULL, here and below */
    uint32_t primitive_count;
    pelt_primitive *primitives;
    uint32_t weight_count; /* 0 or the primitives' target_count */
    double *weights;       /* default morph weights */
} pelt_mesh;

typedef struct pelt_node {
    char *name;
    int32_t parent;  /* -1: a root */
    bool has_matrix; /* matrix instead of translation, rotation, scale */
    bool in_scene;   /* reachable from the scene's roots */
    double matrix[12];
    double translation[3];
    double rotation[4]; /* unit */
    double scale[3];
    int32_t mesh;          /* -1: none */
    int32_t skin;          /* -1: none */
    uint32_t weight_count; /* 0: the mesh's own default weights hold */
    double *weights;
    char *extras; /* JSON text for the writer, or NULL; the reader leaves it NULL */
} pelt_node;

typedef struct pelt_skin {
    char *name;
    uint32_t joint_count; /* 1 to 65,536 */
    uint32_t *joints;     /* node indices */
    float *inverse_bind;  /* 12 a joint (three rows); identity where the file has none */
} pelt_skin;

typedef enum pelt_path { PELT_TRANSLATION, PELT_ROTATION, PELT_SCALE, PELT_WEIGHTS } pelt_path;

typedef enum pelt_interpolation { PELT_LINEAR, PELT_STEP, PELT_CUBICSPLINE } pelt_interpolation;

/* Keys. times rise strictly, >= 0. values: width numbers a key (3 translation and scale,
 * 4 rotation, the target count for weights), three times that for CUBICSPLINE in glTF's order
 * (in-tangent, value, out-tangent). Rotation values that are not spline tangents are unit. */
typedef struct pelt_sampler {
    pelt_interpolation interpolation;
    uint32_t key_count; /* > 0; >= 2 for CUBICSPLINE */
    uint32_t width;
    float *times;
    float *values;
} pelt_sampler;

typedef struct pelt_channel {
    uint32_t node;
    pelt_path path;
    uint32_t sampler;
} pelt_channel;

typedef struct pelt_clip {
    char *name;
    double duration; /* the largest key time */
    uint32_t channel_count;
    pelt_channel *channels; /* no two with the same node and path */
    uint32_t sampler_count;
    pelt_sampler *samplers;
} pelt_clip;

typedef struct pelt_image {
    char *name;
    const char *mime_type; /* "image/png" or "image/jpeg", from the bytes themselves */
    size_t size;
    uint8_t *bytes; /* the encoded file */
} pelt_image;

typedef enum pelt_alpha_mode {
    PELT_ALPHA_OPAQUE,
    PELT_ALPHA_MASK,
    PELT_ALPHA_BLEND
} pelt_alpha_mode;

/* Values are glTF's (and OpenGL's) enumerants; 0: glTF's default (repeat; linear). */
typedef struct pelt_texture_sampler {
    uint32_t wrap_s, wrap_t;
    uint32_t mag_filter, min_filter;
} pelt_texture_sampler;

/* What a picture needs. Texture transforms are already applied to the texcoords. */
typedef struct pelt_material {
    char *name;
    float base_color[4];      /* linear */
    int32_t base_color_image; /* -1: none */
    pelt_texture_sampler base_color_sampler;
    pelt_alpha_mode alpha_mode;
    float alpha_cutoff;
    bool double_sided;
    bool has_normal_map;
} pelt_material;

/* A palette: the skin matrices that one skin, or one rigid node, needs. Matrices of all palettes
 * of a model lie behind each other; one instance of the model needs model.matrix_count of them. */
typedef struct pelt_palette {
    int32_t skin;  /* -1: rigid, one matrix, the node's global transform */
    uint32_t node; /* the rigid node; of a skin, its first user */
    uint32_t first_matrix;
    uint32_t matrix_count;
} pelt_palette;

/* One thing to skin: a primitive under a node of the scene. Nodes depth-first in the order of the
 * scene's roots and of each node's children, primitives in file order. */
typedef struct pelt_part {
    uint32_t node;
    uint32_t mesh;
    uint32_t primitive;
    uint32_t palette;
    bool skinned; /* false: rigid, whatever JOINTS_n the primitive has */
} pelt_part;

struct pelt_arena;

typedef struct pelt_model {
    char *generator; /* asset.generator */
    uint32_t node_count;
    pelt_node *nodes;
    uint32_t mesh_count;
    pelt_mesh *meshes;
    uint32_t skin_count;
    pelt_skin *skins;
    uint32_t clip_count;
    pelt_clip *clips;
    uint32_t material_count;
    pelt_material *materials;
    uint32_t image_count;
    pelt_image *images;

    /* Scene nodes depth-first; pelt_gltf_read fills it, pelt_model_finish where it is NULL. */
    uint32_t scene_node_count;
    uint32_t *scene_nodes;

    /* Derived by pelt_model_finish. */
    uint32_t *node_order; /* all nodes, parents before children */
    uint32_t palette_count;
    pelt_palette *palettes;
    uint32_t matrix_count; /* of all palettes */
    uint32_t part_count;
    pelt_part *parts;
    uint32_t *morph_offsets; /* node_count + 1: the node's first morph weight in a pose */

    const pelt_host *host; /* the creator's */
    struct pelt_arena *arena;
} pelt_model;

/* An empty model. host is kept until the model is destroyed.
 * Errors: PELT_ERROR_MEMORY. */
PELT_API pelt_result pelt_model_create(const pelt_host *host, pelt_model **out);
PELT_API void pelt_model_destroy(pelt_model *model);

/* Zeroed memory that lives as long as the model; NULL if there is none or count x size overflows.
 */
PELT_API void *pelt_model_allocate(pelt_model *model, size_t count, size_t size);

/* Gives memory of pelt_model_allocate back early; NULL is fine. */
PELT_API void pelt_model_release(pelt_model *model, void *block);

/* Derives the fields above. Every index in the model must already be in range.
 * May be called again after a change; scene_nodes are then kept (NULL them to have them anew).
 * Errors: PELT_ERROR_MEMORY; PELT_ERROR_ARGUMENT for a cycle of parents; PELT_ERROR_RANGE for more
 * than 2^24 parts, skin matrices or morph weights. */
PELT_API pelt_result pelt_model_finish(pelt_model *model);

/* Gives every triangle primitive without normals flat ones, as glTF asks: each triangle gets three
 * vertices of its own (source_vertices tells which they were), the topology becomes PELT_TRIANGLES
 * without indices, and stored tangents and morph normals are dropped. The normal is that of the
 * bind pose, (0 0 1) for a triangle without area. Call pelt_model_finish before or after. Errors:
 * PELT_ERROR_MEMORY, PELT_ERROR_RANGE.
 */
PELT_API pelt_result pelt_model_add_normals(pelt_model *model);

/* Gives triangle primitives that have normals and texcoords, but no tangents, tangents along the
 * direction of rising u: angle-weighted over the triangles around each vertex, orthogonal to the
 * normal, vertices at mirrored seams split (source_vertices; the primitive is then an indexed
 * list). cross(normal, tangent) x w points against rising v, up in the image, as in glTF's normal
 * maps. Where texcoords give no direction: any in the plane of the normal, w = 1. all: every such
 * primitive; otherwise those whose material has a normal map. Errors: PELT_ERROR_MEMORY,
 * PELT_ERROR_RANGE. */
PELT_API pelt_result pelt_model_add_tangents(pelt_model *model, bool all);

/* Number of triangles a primitive draws (strips and fans included), 0 for points and lines. */
PELT_API uint32_t pelt_primitive_triangle_count(const pelt_primitive *primitive);

/* Writes the primitive's triangles as 3 x pelt_primitive_triangle_count indices, in glTF's winding.
 */
PELT_API void pelt_primitive_triangles(const pelt_primitive *primitive, uint32_t *indices);

/* The clip of that name, or with that number written in decimal; -1 if there is none.
 * A name wins over a number. */
PELT_API int32_t pelt_model_find_clip(const pelt_model *model, const char *name);

#ifdef __cplusplus
}
#endif
#endif
