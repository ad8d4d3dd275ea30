/* The pose pass: clips and states of instances to skin matrices.
 *
 * A workgroup poses several instances of one rig, an invocation a node of one of them; or, where a
 * rig has more nodes than a workgroup has invocations, a single instance, a tile of nodes after the
 * other. Every node first has the transform to its parent. Then paths double: in each round a node
 * takes over the path of the node at which its own ends, so all global transforms are there after
 * as many rounds as the logarithm of the depth, whatever the shape of the tree. What lies above a
 * tile is final by then, and was carried over.
 *
 * An override that multiplies a node's global transform, X, multiplies from the other side: with
 * those, a path is a pair that maps what is above it, G, to left G right, and pairs compose too.
 * Only nodes below such an override have a left part.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require

#include "pelt/affine.glsl"
#include "pelt/group.glsl"
#include "pelt/pose_layout.h"
#include "pelt/sample.glsl"

layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer pelt_pose_groups {
    pelt_pose_group at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_pose_states {
    pelt_pose_state at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_overrides {
    pelt_pose_override_record at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_rig_head {
    pelt_rig_header header;
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_rig_nodes {
    pelt_rig_node at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_rig_clips {
    pelt_rig_clip at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) coherent buffer pelt_carried {
    vec4 at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer pelt_matrix_memory {
    vec4 rows[3];
};
layout(push_constant) uniform constants_block { pelt_pose_constants constants; };

/* Whether there may be left parts at all. Without the shared memory for them twice as many groups
 * run at once. */
layout(constant_id = 2) const bool GLOBAL_MULTIPLIES = true;

/* Rows an instance's state takes; its world transform comes first. */
const uint STATE_ROWS = 10u;

/* A link says where a node's path ends: at a node of the tile, or above it. */
const uint LINK_LEFT = 0x80000000u;  /* flag: the path has a left part */
const uint LINK_ABOVE = 0x40000000u; /* flag: the rest says what is carried over, NOTHING: none */
const uint LINK_IDLE = 0x20000000u;  /* flag: there is no path: the instance is not due */
const uint LINK_NOTHING = 0x1fffffffu;
const uint LINK_REST = 0x1fffffffu;

shared vec4 shared_right[3 * PELT_POSE_LANES]; /* later: global transforms */
shared vec4 shared_left[GLOBAL_MULTIPLIES ? 3 * PELT_POSE_LANES : 1];
shared uint shared_links[PELT_POSE_LANES];

/* A node's path. */
struct node_path {
    pelt_matrix right;
    uint link;
};

bool has_left(uint link)
{
    return GLOBAL_MULTIPLIES && (link & LINK_LEFT) != 0u;
}

/* Three rows behind each other: one address, and not three. */
pelt_matrix load_rows(uvec2 address, uint row)
{
    uint carry;
    uint low = uaddCarry(address.x, 16u * row, carry);
    pelt_matrix_memory memory = pelt_matrix_memory(uvec2(low, address.y + carry));
    return pelt_matrix(vec4[3](memory.rows[0], memory.rows[1], memory.rows[2]));
}

pelt_matrix load_right(uint slot)
{
    return pelt_matrix(vec4[3](shared_right[3u * slot], shared_right[3u * slot + 1u],
                               shared_right[3u * slot + 2u]));
}

pelt_matrix load_left(uint slot)
{
    return pelt_matrix(vec4[3](shared_left[3u * slot], shared_left[3u * slot + 1u],
                               shared_left[3u * slot + 2u]));
}

void store_right(uint slot, pelt_matrix matrix)
{
    shared_right[3u * slot] = matrix.rows[0];
    shared_right[3u * slot + 1u] = matrix.rows[1];
    shared_right[3u * slot + 2u] = matrix.rows[2];
}

void store_left(uint slot, pelt_matrix matrix)
{
    shared_left[3u * slot] = matrix.rows[0];
    shared_left[3u * slot + 1u] = matrix.rows[1];
    shared_left[3u * slot + 2u] = matrix.rows[2];
}

bool is_due(uint number)
{
    pelt_pose_states states = pelt_pose_states(constants.instances);
    uint interval = states.at[number].interval;
    uint phase = states.at[number].phase;
    return interval == 1u || (interval != 0u && (constants.all != 0u ||
                                                 (constants.frame + phase) % interval == 0u));
}

/* Whether none of a few instances is due; of many, one probably is. */
bool is_idle(pelt_pose_group group)
{
    bool idle = group.instance_count <= 4u;
    for (uint i = 0u; idle && i < group.instance_count; i++) {
        idle = !is_due(group.first_instance + i);
    }
    return idle;
}

float second_weight(uint number, uvec2 now)
{
    pelt_pose_states states = pelt_pose_states(constants.instances);
    float weight = states.at[number].weight;
    float rate = states.at[number].weight_rate;
    if (weight == 0.0 && rate == 0.0) {
        return 0.0;
    }
    uvec2 since =
        uvec2(states.at[number].plays[1].since_low, states.at[number].plays[1].since_high);
    return clamp(weight + rate * pelt_elapsed(now, since).high, 0.0, 1.0);
}

/* A node's transform to its parent, from one clip or two. number: the instance's. */
pelt_matrix sample_local(uvec2 rig, pelt_rig_header header, uint number, pelt_rig_node node,
                         uint index)
{
    uvec2 now = uvec2(constants.now_low, constants.now_high);
    float weight = second_weight(number, now);
    pelt_local sum = pelt_local(vec3(0.0), vec4(0.0), vec3(0.0), false);
    for (uint i = 0u; i < 2u; i++) {
        float share = i == 0u ? 1.0 - weight : weight;
        if (share == 0.0) {
            continue;
        }
        pelt_pose_play play = pelt_pose_states(constants.instances).at[number].plays[i];
        pelt_rig_clip clip = pelt_rig_clips(rig).at[header.clips + play.clip];
        pelt_moment time = pelt_play_time(play, now, clip.duration);
        pelt_local local = pelt_sample_node(rig, clip.tracks, header.node_count, index, time);
        /* On the side of the first, so the sum cannot vanish. */
        float side = dot(sum.rotation, local.rotation) < 0.0 ? -share : share;
        sum.translation += share * local.translation;
        sum.rotation += side * local.rotation;
        sum.scale += share * local.scale;
        sum.animated = sum.animated || local.animated;
    }
    if (node.matrix != 0u && !sum.animated) {
        return load_rows(rig, node.matrix);
    }
    return pelt_compose(sum.translation, sum.rotation, sum.scale);
}

/* Where in a list the node's override is, or would be. */
uint find_override(pelt_overrides overrides, uint count, uint node)
{
    uint low = 0u;
    uint high = count;
    while (low < high) {
        uint middle = (low + high) / 2u;
        if (overrides.at[middle].node < node) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Whether the node still follows what is above it. */
bool apply_override(uint number, uint count, uint node, uint slot, inout node_path path)
{
    uvec2 address = pelt_pose_states(constants.instances).at[number].overrides;
    pelt_overrides overrides = pelt_overrides(address);
    uint index = find_override(overrides, count, node);
    if (index == count || overrides.at[index].node != node) {
        return true;
    }
    uint kind = overrides.at[index].kind;
    pelt_matrix matrix = load_rows(address, 4u * index + 1u);
    if (kind == PELT_OVERRIDE_KIND_LOCAL_REPLACE) {
        path.right = matrix;
    } else if (kind == PELT_OVERRIDE_KIND_LOCAL_MULTIPLY) {
        path.right = pelt_multiply(path.right, matrix);
    } else if (kind == PELT_OVERRIDE_KIND_GLOBAL_REPLACE) {
        path.right = matrix;
        path.link = LINK_ABOVE | LINK_NOTHING;
        return false;
    } else if (GLOBAL_MULTIPLIES) {
        store_left(slot, matrix);
        path.link |= LINK_LEFT;
    }
    return true;
}

/* The path from a node to its parent. */
node_path begin_path(uvec2 rig, pelt_rig_header header, uint number, uint index, uint slot,
                     pelt_rig_node node)
{
    bool is_fixed = node.above != PELT_POSE_NONE && (node.above & PELT_NODE_FIXED) != 0u;
    node_path path;
    path.right = sample_local(rig, header, number, node, index);
    if (node.above != PELT_POSE_NONE && !is_fixed) {
        path.link = LINK_ABOVE | node.above;
    } else {
        path.link = node.up != 0u ? slot - node.up : LINK_ABOVE | LINK_NOTHING;
    }
    uint overrides = pelt_pose_states(constants.instances).at[number].override_count;
    bool follows = overrides == 0u || apply_override(number, overrides, index, slot, path);
    if (is_fixed && follows) {
        path.right = pelt_multiply(load_rows(rig, node.above ^ PELT_NODE_FIXED), path.right);
    }
    return path;
}

/* One round for all: each path goes on along that of the node where it ends. */
void double_path(uint slot, inout node_path path)
{
    bool open = (path.link & LINK_ABOVE) == 0u;
    uint above_link = 0u;
    pelt_matrix left = pelt_zero_matrix();
    if (open) {
        uint above = path.link & LINK_REST;
        above_link = shared_links[above];
        path.right = pelt_multiply(load_right(above), path.right);
        if (has_left(above_link)) {
            left = load_left(above);
            if (has_left(path.link)) {
                left = pelt_multiply(load_left(slot), left);
            }
        }
    }
    barrier();
    if (open) {
        store_right(slot, path.right);
        if (has_left(above_link)) {
            store_left(slot, left);
        }
        path.link = above_link | (path.link & LINK_LEFT);
        shared_links[slot] = path.link;
    }
    barrier();
}

/* The global transform of a node whose path is whole. */
pelt_matrix end_path(uint slot, node_path path, uint scratch)
{
    pelt_matrix global = path.right;
    uint carried = path.link & LINK_REST;
    if (carried != LINK_NOTHING) {
        pelt_carried rows = pelt_carried(constants.scratch);
        uint row = scratch + 3u * carried;
        pelt_matrix above =
            pelt_matrix(vec4[3](rows.at[row], rows.at[row + 1u], rows.at[row + 2u]));
        global = pelt_multiply(above, global);
    }
    if (has_left(path.link)) {
        global = pelt_multiply(load_left(slot), global);
    }
    return global;
}

void carry(uint to, uint scratch, pelt_matrix global)
{
    pelt_carried rows = pelt_carried(constants.scratch);
    uint row = scratch + 3u * to;
    rows.at[row] = global.rows[0];
    rows.at[row + 1u] = global.rows[1];
    rows.at[row + 2u] = global.rows[2];
}

/* No number that is written is NaN, infinite or larger than PELT_MAGNITUDE_MAX. */
uvec4 tame(vec4 row)
{
    uvec4 bits = floatBitsToUint(row);
    return min(bits & 0x7fffffffu, uvec4(PELT_POSE_LARGEST)) | (bits & 0x80000000u);
}

/* One row of world x global x inverse bind. The world's translation is often by far the largest
 * number in it, and so comes last. */
uvec4 output_row(uvec2 rig, uint inverse_bind, vec4 world, uint slot)
{
    vec4 placed = pelt_multiply_row(world, load_right(slot));
    vec4 row = pelt_multiply_row(placed, load_rows(rig, inverse_bind));
    row.w += placed.w;
    row.w += world.w;
    return tame(row);
}

/* Writes one row of one output of an instance. */
void write_row(pelt_pose_group group, pelt_rig_header header, uint instance, uint output_index,
               uint row)
{
    uvec2 output_words = pelt_pairs(group.rig).at[2u * header.outputs + output_index];
    uint slot = instance * header.node_count + output_words.x;
    if ((shared_links[slot] & LINK_IDLE) != 0u) {
        return;
    }
    uint number = group.first_instance + instance;
    pelt_pose_states states = pelt_pose_states(constants.instances);
    uvec2 address = states.at[number].matrices;
    uint destination = output_words.y;
    if (destination >= header.matrix_count) {
        address = states.at[number].sockets;
        destination -= header.matrix_count;
        if (address == uvec2(0u)) {
            return;
        }
    }
    vec4 world = pelt_rows(constants.instances).at[STATE_ROWS * number + row];
    pelt_out_quads(address).at[3u * destination + row] =
        output_row(group.rig, header.inverse_bind + 3u * output_index, world, slot);
}

/* An invocation a row, so that neighbours write neighbouring bytes. Rows of all instances are one
 * list; how far it is from an invocation's row to its next is the same for all. */
void write_outputs(pelt_pose_group group, uint tile)
{
    pelt_rig_header header = pelt_rig_head(group.rig).header; /* again, not kept in registers */
    pelt_words words = pelt_words(group.rig);
    uint first = words.at[4u * header.tiles + tile];
    uint rows = 3u * (words.at[4u * header.tiles + tile + 1u] - first);
    if (rows == 0u) {
        return;
    }
    uint instance_step = PELT_GROUP_SIZE / rows;
    uint row_step = PELT_GROUP_SIZE - instance_step * rows;
    uint instance = gl_LocalInvocationIndex / rows;
    uint row = gl_LocalInvocationIndex - instance * rows;
    while (instance < group.instance_count) {
        write_row(group, header, instance, first + row / 3u, row % 3u);
        row += row_step;
        instance += instance_step;
        if (row >= rows) {
            row -= rows;
            instance++;
        }
    }
}

void main()
{
    uint group_index = pelt_group_index();
    if (group_index >= constants.count) {
        return;
    }
    pelt_pose_group group = pelt_pose_groups(constants.groups).at[group_index];
    if (is_idle(group)) {
        return;
    }
    pelt_rig_header header = pelt_rig_head(group.rig).header;
    uint slot = gl_LocalInvocationIndex;

    /* Several tiles: of one instance. */
    uint instance = header.tile_count > 1u ? 0u : slot / header.node_count;
    uint index = slot - instance * header.node_count;
    bool has_instance = instance < group.instance_count;
    uint number = group.first_instance + (has_instance ? instance : 0u);
    has_instance = has_instance && is_due(number);

    for (uint tile = 0u; tile < header.tile_count; tile++) {
        bool live = has_instance && index < header.node_count;
        node_path path;
        path.link = LINK_ABOVE | LINK_IDLE | LINK_NOTHING;
        path.right = pelt_zero_matrix();
        pelt_rig_node node;
        if (live) {
            node = pelt_rig_nodes(group.rig).at[header.nodes + index];
            path = begin_path(group.rig, header, number, index, slot, node);
            store_right(slot, path.right);
        }
        shared_links[slot] = path.link;
        barrier();
        for (uint round = 0u; round < header.rounds; round++) {
            double_path(slot, path);
        }
        if (live) {
            pelt_matrix global = end_path(slot, path, group.scratch);
            store_right(slot, global);
            if (node.carry_to != PELT_POSE_NONE) {
                carry(node.carry_to, group.scratch, global);
            }
        }
        memoryBarrierBuffer();
        barrier();
        write_outputs(group, tile);
        barrier(); /* the next tile's transforms replace these */
        index += PELT_GROUP_SIZE;
    }
}
