/* SPDX-License-Identifier: MIT */
/* The extension: what the server does when it loads it, and its settings. */
#include "engines/postgres/pg.h"

#include <utils/builtins.h>
#include <utils/guc.h>

PG_MODULE_MAGIC;

/* Text output doubles a value and ends at 1 GB, so that larger ones could not be dumped. */
enum { DEFAULT_MAX_BYTES = 256 << 20, MAX_BYTES = (1 << 30) - (1 << 20) };

int pg_max_bytes = DEFAULT_MAX_BYTES;
double pg_default_fpr = 0.01;
char *pg_directory;

PGDLLEXPORT void _PG_init(void);

void _PG_init(void) {
    DefineCustomIntVariable("tamis.max_bytes", "Largest filter that is made or grows.",
                            "Filters that exist are loaded, restored and replicated whatever their "
                            "size. Above some 500 MB values have no text form.",
                            &pg_max_bytes, DEFAULT_MAX_BYTES, 1024, MAX_BYTES, PGC_USERSET,
                            GUC_UNIT_BYTE, NULL, NULL, NULL);
    DefineCustomRealVariable("tamis.default_fpr",
                             "False-positive rate of a spec that has neither rate nor size.", NULL,
                             &pg_default_fpr, 0.01, 1e-12, 0.99, PGC_USERSET, 0, NULL, NULL, NULL);
    DefineCustomStringVariable("tamis.directory", "Directory whose images tamis_file() opens.",
                               "Empty: none. Only superusers set it.", &pg_directory, "", PGC_SUSET,
                               0, NULL, NULL, NULL);
#if PG_VERSION_NUM >= 150000
    MarkGUCPrefixReserved("tamis");
#else
    EmitWarningsOnPlaceholders("tamis");
#endif
}

PG_FUNCTION_INFO_V1(pg_tamis_version);
Datum pg_tamis_version(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_TEXT_P(cstring_to_text(tamis_version()));
}
