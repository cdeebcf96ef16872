/* SPDX-License-Identifier: MIT */
/* What INFO tells: the section "tamis". Every number is a counter; nothing is looked through. */
#include "engines/redis/module_info.h"

#include "engines/redis/freeing.h"
#include "engines/redis/settings.h"
#include "engines/redis/work.h"

static void tell(redis_info *info, const char *name, unsigned long long number) {
    redis.InfoAddFieldULongLong(info, name, number);
}

static void tell_all(redis_info *info, int is_crash) {
    (void)is_crash;
    redis.InfoAddSection(info, "");
    redis.InfoAddFieldCString(info, "version", tamis_version());
    redis.InfoAddFieldCString(info, "cpu", tamis_cpu());
    tell(info, "filters_tamis", atomic_load(&counters.values[FAMILY_TAMIS]));
    tell(info, "filters_bf", atomic_load(&counters.values[FAMILY_BF]));
    tell(info, "filters_cf", atomic_load(&counters.values[FAMILY_CF]));
    tell(info, "filters_cms", atomic_load(&counters.values[FAMILY_CMS]));
    tell(info, "filter_bytes", atomic_load(&counters.bytes));
    tell(info, "max_filter_bytes", (unsigned long long)settings.max_filter_bytes);
    tell(info, "items_changed", counters.items[true]);
    tell(info, "items_asked", counters.items[false]);
    tell(info, "images_refused", atomic_load(&counters.refused));
    tell(info, "jobs_active", work_active());
    tell(info, "jobs_done", work_done());
    tell(info, "job_steps", work_steps());
    tell(info, "pauses", work_pauses());
    tell(info, "frees_waiting", frees_waiting());
}

int told_start(redis_ctx *ctx) {
    return redis.RegisterInfoFunc(ctx, tell_all);
}
