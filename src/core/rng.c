#include "core/rng.h"

#include <Random123/philox.h>

#include "core/kernels.h"
#include "core/normal.h"

/* The counter's words: the block within the stream; the number's low half; its high 24 bits with the
 * purpose; the stream. The seed is the key. */
void gbose__rng_init(struct gbose__rng *rng, uint64_t seed, uint32_t stream, unsigned purpose,
                     uint64_t number)
{
    rng->key[0] = (uint32_t)seed;
    rng->key[1] = (uint32_t)(seed >> 32);
    rng->counter[0] = 0;
    rng->counter[1] = (uint32_t)number;
    rng->counter[2] = (uint32_t)(number >> 32) << 8 | (purpose & 255u);
    rng->counter[3] = stream;
    rng->used = 4;
}

static void refill(struct gbose__rng *rng)
{
    philox4x32_ctr_t counter = {{rng->counter[0], rng->counter[1], rng->counter[2], rng->counter[3]}};
    philox4x32_key_t key = {{rng->key[0], rng->key[1]}};
    philox4x32_ctr_t block = philox4x32_R(10, counter, key);

    for (unsigned i = 0; i < 4; i++)
        rng->block[i] = block.v[i];
    rng->counter[0]++;
    rng->used = 0;
}

uint64_t gbose__rng_u64(struct gbose__rng *rng)
{
    uint64_t low, high;

    if (rng->used == 4)
        refill(rng);
    low = rng->block[rng->used++];
    high = rng->block[rng->used++];
    return high << 32 | low;
}

double gbose__rng_uniform(struct gbose__rng *rng)
{
    return (double)(gbose__rng_u64(rng) >> 11) * 0x1p-53;
}

/* In (0, 1), both ends excluded: an odd multiple of 2^-53. */
static double open_uniform(struct gbose__rng *rng)
{
    return ((double)(gbose__rng_u64(rng) >> 12) + 0.5) * 0x1p-52;
}

double gbose__rng_normal(struct gbose__rng *rng)
{
    return gbose__normal_quantile(open_uniform(rng));
}

void gbose__rng_normals(struct gbose__rng *rng, double *z, size_t n)
{
    size_t done = 0;

    while (done < n && rng->used < 4) /* what is left of the block */
        z[done++] = gbose__rng_normal(rng);
    gbose__kernels->normals(z + done, rng->key, rng->counter, (n - done) / 2);
    if ((n - done) % 2)
        z[n - 1] = gbose__rng_normal(rng);
}

void gbose__rng_rough_normals(struct gbose__rng *rng, double *z, size_t n)
{
    gbose__kernels->rough_normals(z, rng->key, rng->counter, n / 4);
    rng->used = 4;
}
