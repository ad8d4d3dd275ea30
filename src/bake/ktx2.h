/* KTX 2.0: what writer and reader share. https://registry.khronos.org/KTX/specs/2.0/ktxspec.v2.html
 * All numbers are little-endian. */
#ifndef PELT_SRC_BAKE_KTX2_H
#define PELT_SRC_BAKE_KTX2_H

#include <stdint.h>

enum {
    KTX2_HEADER_SIZE = 80,
    KTX2_LEVEL_SIZE = 24,
    KTX2_BLOCK_SIZE = 24,  /* of a data format descriptor's basic block, without samples */
    KTX2_SAMPLE_SIZE = 16, /* of each */
    KTX2_CHANNELS = 4,
    KTX2_DESCRIPTOR_SIZE = 4 + KTX2_BLOCK_SIZE + KTX2_CHANNELS * KTX2_SAMPLE_SIZE,

    VK_R16G16B16A16_SFLOAT = 97,
    VK_R32G32B32A32_SFLOAT = 109
};

#define KTX2_KEY    "pelt"
#define KTX2_WRITER "KTXwriter"

static const uint8_t ktx2_identifier[12] = { 0xab, 'K',  'T',  'X',  ' ',  '2',
                                             '0',  0xbb, '\r', '\n', 0x1a, '\n' };

static inline void ktx2_put32(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(value >> 8 * i);
    }
}

static inline void ktx2_put64(uint8_t *bytes, uint64_t value)
{
    ktx2_put32(bytes, (uint32_t)value);
    ktx2_put32(bytes + 4, (uint32_t)(value >> 32));
}

static inline uint32_t ktx2_get32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t ktx2_get64(const uint8_t *bytes)
{
    return ktx2_get32(bytes) | (uint64_t)ktx2_get32(bytes + 4) << 32;
}

#endif
