/* SPDX-License-Identifier: MIT */
/* inner_loop.c: one key at a time without a call, as a storage engine asks. */
#include <tamis_inline.h>

#include "must.h"

int main(void) {
    struct tamis_inline view = TAMIS_INLINE_INIT;
    tamis *filter;
    uint64_t hits = 0, strangers = 0;
    must(tamis_create(&filter, "blocked:capacity=10K,hashes=8"));
    must(tamis_inline_edit(filter, &view));
    for (uint64_t key = 0; key < 10000; key++) tamis_inline_add_u64(&view, key);
    tamis_inline_done(filter, &view);

    must(tamis_inline_view(filter, &view));
    const struct tamis_inline fast = view; /* its address is nobody else's: it stays in registers */
    for (uint64_t key = 0; key < 10000; key++) hits += tamis_inline_has_u64(&fast, key);
    for (uint64_t key = 0; key < 10000; key++)
        strangers += tamis_inline_has_u64(&fast, key + 1000000);
    expect(hits == 10000, "every key is found");
    expect(strangers < 1000 && tamis_has_u64(filter, 9999), "and few others are");
    tamis_free(filter);
    return 0;
}
