/* SPDX-License-Identifier: MIT */
/* Our side of tables whose filters are in partitions: every key that was added is in one of the
 * filters that tamis_format_scan lists, a partition is not everything, and no partition is left
 * out.
 *
 *     parts < CASES */
#include "kv_cases.h"

#include "tamis.h"
#include "tamis_formats.h"

struct partition {
    std::string choose;
    uint64_t offset, size;
};

static bool list(void *ctx, const struct tamis_found *found) {
    static_cast<std::vector<partition> *>(ctx)->push_back(
        {found->choose, found->offset, found->size});
    return true;
}

int main() {
    size_t files = 0, filters = 0, keys = 0;
    for (trial t; read_trial(t); files++, keys += t.added.size()) {
        std::vector<partition> all;
        std::vector<bool> is_found(t.added.size());
        if (tamis_format_scan(t.format.c_str(), t.bytes.data(), t.bytes.size(), list, &all))
            stop(t, tamis_why());
        for (const partition &one : all) {
            tamis *f;
            if (tamis_import(&f, (t.format + ":" + one.choose).c_str(), t.bytes.data(),
                             t.bytes.size()))
                stop(t, tamis_why());
            for (size_t i = 0; i < t.added.size(); i++)
                if (tamis_has(f, t.added[i].data(), t.added[i].size())) is_found[i] = true;
            tamis_free(f);
        }
        for (const bool is : is_found)
            if (!is) stop(t, "a key is in no partition");
        filters += all.size();
    }
    std::printf("%zu filters of %zu tables, %zu keys\n", filters, files, keys);
    return 0;
}
