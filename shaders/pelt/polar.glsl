/* SPDX-License-Identifier: MIT */
/* The rotation of a matrix: the orthogonal factor of its polar decomposition, a unit quaternion. */
#ifndef PELT_POLAR_GLSL
#define PELT_POLAR_GLSL

#include "deform.glsl"

/* Squared so often, what is not along the rotation is gone to rounding, unless the matrix is all
 * but flat both ways. */
const int PELT_POLAR_SQUARINGS = 8;

float pelt_determinant(pelt_matrix m)
{
    return dot(m.rows[0].xyz, cross(m.rows[1].xyz, m.rows[2].xyz));
}

/* Of the 3x3, of any size. Of a mirrored matrix that of -M, as in pelt_skin_rotations. Of all unit
 * quaternions q this has the largest q K q, the sum of products of M with the rotation (Horn 1987):
 * the eigenvector of K's largest eigenvalue, to which powers of K + shift turn every column. The
 * shift leaves no eigenvalue below 0. */
vec4 pelt_rotation(pelt_matrix matrix)
{
    pelt_matrix m = pelt_matrix_to_one(matrix);
    float side = pelt_determinant(m) < -1e-6 ? -1.0 : 1.0;
    vec3 x = side * m.rows[0].xyz, y = side * m.rows[1].xyz, z = side * m.rows[2].xyz;
    float shift = 1.4143 * sqrt(dot(x, x) + dot(y, y) + dot(z, z));
    vec3 d = vec3(x.x - y.y - z.z, y.y - x.x - z.z, z.z - x.x - y.y);
    vec3 s = vec3(y.z + z.y, z.x + x.z, x.y + y.x);
    vec3 a = vec3(z.y - y.z, x.z - z.x, y.x - x.y);
    mat4 k = mat4(vec4(d.x, s.z, s.y, a.x), vec4(s.z, d.y, s.x, a.y), vec4(s.y, s.x, d.z, a.z),
                  vec4(a, x.x + y.y + z.z)) +
             mat4(shift);
    for (int i = 0; i < PELT_POLAR_SQUARINGS; i++) {
        float largest = max(max(k[0][0], k[1][1]), max(k[2][2], k[3][3]));
        k = largest > 0.0 ? k * (1.0 / largest) : mat4(1.0);
        k = k * k;
    }
    int best = 3;
    for (int i = 0; i < 3; i++) {
        best = k[i][i] > k[best][best] ? i : best;
    }
    return normalize(k[best]);
}

#endif
