/* SPDX-License-Identifier: MIT */
/* The machine that the bench runs on, as the system describes it. */
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/bench.h"
#include "tamis.h"

/* The rest of the first line of a file that starts with `label`; "" when there is none. */
static const char *line_of(const char *file, const char *label, char *line, size_t size) {
    FILE *in = fopen(file, "r");
    const char *found = "";
    while (in && !*found && fgets(line, (int)size, in)) {
        if (strncmp(line, label, strlen(label)) != 0) continue;
        line[strcspn(line, "\n")] = 0;
        found = line + strlen(label);
        found += strspn(found, " \t:");
        if (!*label) break;
    }
    if (in) fclose(in);
    return found;
}

static size_t kilobytes(const char *file, const char *label) {
    char line[256];
    return (size_t)strtoull(line_of(file, label, line, sizeof line), NULL, 10) * 1024;
}

size_t memory_available(void) {
    return kilobytes("/proc/meminfo", "MemAvailable");
}

size_t large_page_bytes(void) {
    return kilobytes("/proc/self/smaps_rollup", "AnonHugePages");
}

static void put(FILE *out, const char *name, const char *value) {
    fprintf(out, "    \"%s\": ", name);
    json_text(out, value ? value : "");
    fprintf(out, ",\n");
}

static void put_caches(FILE *out) {
    static const char *const dir = "/sys/devices/system/cpu/cpu0/cache/index";
    char path[96], level[32], type[32], size[32];
    const char *before = "";
    fprintf(out, "    \"caches\": [");
    for (int i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "%s%d/level", dir, i);
        if (!*line_of(path, "", level, sizeof level)) break;
        snprintf(path, sizeof path, "%s%d/type", dir, i);
        line_of(path, "", type, sizeof type);
        snprintf(path, sizeof path, "%s%d/size", dir, i);
        line_of(path, "", size, sizeof size);
        fprintf(out, "%s\"L%s %s %s\"", before, level, type, size);
        before = ", ";
    }
    fprintf(out, "],\n");
}

void json_machine(FILE *out) {
    static char line[16384];
    struct utsname system;
    const char *const cpuinfo = "/proc/cpuinfo";
    fprintf(out, "  \"machine\": {\n");
    put(out, "processor", line_of(cpuinfo, "model name", line, sizeof line));
    put(out, "flags", line_of(cpuinfo, "flags", line, sizeof line));
    put_caches(out);
    if (!uname(&system)) {
        put(out, "kernel", system.release);
        put(out, "architecture", system.machine);
    }
    put(out, "large_pages",
        line_of("/sys/kernel/mm/transparent_hugepage/enabled", "", line, sizeof line));
    put(out, "c_library", gnu_get_libc_version());
    put(out, "malloc", getenv("GLIBC_TUNABLES"));
    put(out, "compiler", __VERSION__);
    put(out, "tamis", tamis_version());
    put(out, "tamis_cpu", getenv("TAMIS_CPU"));
    fprintf(out, "    \"processors\": %ld,\n", sysconf(_SC_NPROCESSORS_ONLN));
    fprintf(out, "    \"memory_bytes\": %zu\n  },\n", kilobytes("/proc/meminfo", "MemTotal"));
}
