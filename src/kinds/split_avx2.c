/* split: the AVX2 kernels. One block is one vector; what is done with it is what tamis_fast.h does
 * when it is compiled for AVX2. */
#include "kinds/split.h"

#ifdef __AVX2__

TAMIS_HOT bool test(const uint8_t *block, uint32_t x) {
    return tamis_fast_has_split(block, x);
}
TAMIS_HOT void set(uint8_t *block, uint32_t x) {
    tamis_fast_add_split(block, x);
}

TAMIS_BLOCK_OPS(parquet, locate_parquet, test, set)
TAMIS_BLOCK_OPS(wide, locate_wide, test, set)

const tamis_block_ops tamis__split_avx2[RULES] = {{parquet_query, parquet_add, parquet_has},
                                                  {wide_query, wide_add, wide_has}};
#endif
