/* SPDX-License-Identifier: MIT */
/* admission.c: what a disk cache saves by keeping only what is requested a second time.
 *
 * Two million requests to a cache, like those of a content delivery network: a few objects are
 * requested all the time, and three quarters of all objects only once. The cache keeps what was
 * used last (LRU). A plain one writes everything to disk that it had to fetch; the other one asks
 * an admission first.
 *
 *     ./admission                     a table
 *     ./admission --svg picture.svg   and a picture
 *
 * Build it with:  cc admission.c $(pkg-config --cflags --libs tamis) -lm */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis_jobs.h>

#include "zipf.h"

enum { REQUESTS = 2000000, THINGS = 8000000, SIZES = 7 };
static const double exponent = 1.1;

/* Room of the cache, as a share of all distinct objects. */
static const double shares[SIZES] = {0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2};

static uint32_t request[REQUESTS]; /* objects by number, in the order of their first request */
static uint32_t different, once;

/* ---- Requests ------------------------------------------------------------------------------- */

static void draw_requests(void) {
    static uint32_t number[THINGS + 1], times[REQUESTS];
    zipf z = zipf_start(THINGS, exponent, 2015);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const uint64_t rank = zipf_next(&z);
        if (number[rank] == 0) number[rank] = ++different;
        request[i] = number[rank] - 1;
        times[request[i]]++;
    }
    for (uint32_t i = 0; i < different; i++) once += times[i] == 1;
}

/* ---- The cache ------------------------------------------------------------------------------ */

enum { NOWHERE = REQUESTS };

/* A list of cached objects, the last used first; each points to its neighbours. */
static struct thing {
    uint32_t before, after;
    int is_inside;
} thing[REQUESTS + 1]; /* the last one is the ends of the list */

static uint32_t inside, room;

static void unlink_thing(uint32_t i) {
    thing[thing[i].before].after = thing[i].after;
    thing[thing[i].after].before = thing[i].before;
    thing[i].is_inside = 0;
    inside--;
}

static void put_first(uint32_t i) {
    thing[i].before = NOWHERE;
    thing[i].after = thing[NOWHERE].after;
    thing[thing[i].after].before = i;
    thing[NOWHERE].after = i;
    thing[i].is_inside = 1;
    inside++;
}

static void empty_cache(uint32_t max) {
    memset(thing, 0, sizeof thing);
    thing[NOWHERE].before = thing[NOWHERE].after = NOWHERE;
    inside = 0;
    room = max;
}

typedef struct result {
    double hits, writes; /* per request */
} result;

/* Without an admission everything is written. */
static result run_cache(uint32_t max, tamis_admission *admission) {
    uint64_t hits = 0, writes = 0;
    empty_cache(max);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const uint32_t wanted = request[i];
        if (thing[wanted].is_inside) {
            hits++;
            unlink_thing(wanted);
            put_first(wanted);
        } else if (!admission || tamis_admission_ask(admission, &wanted, sizeof wanted)) {
            writes++;
            if (inside == room) unlink_thing(thing[NOWHERE].before);
            put_first(wanted);
        }
    }
    return (result){(double)hits / REQUESTS, (double)writes / REQUESTS};
}

/* ---- The picture ---------------------------------------------------------------------------- */

enum { LEFT = 74, RIGHT = 640, TOP = 74, BOTTOM = 420 };

/* Sizes grow by factors: their logarithms are evenly spaced. */
static double x_of(double share) {
    const double low = log(shares[0]), high = log(shares[SIZES - 1]);
    return LEFT + (RIGHT - LEFT) * (log(share) - low) / (high - low);
}

static double y_of(double value) {
    return BOTTOM - (BOTTOM - TOP) * value;
}

static void draw_line(FILE *out, const char *name, const char *words, int lower,
                      const double value[SIZES]) {
    fprintf(out, "<path d=\"");
    for (int i = 0; i < SIZES; i++)
        fprintf(out, "%s%.1f %.1f", i ? " L" : "M", x_of(shares[i]), y_of(value[i]));
    fprintf(out, "\" class=\"line l-%s\"/>\n", name);
    for (int i = 0; i < SIZES; i++)
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" class=\"d-%s ring\"/>\n",
                x_of(shares[i]), y_of(value[i]), name);
    fprintf(out, "<text x=\"%d\" y=\"%.1f\" class=\"ink\">%s</text>\n", RIGHT + 12,
            y_of(value[SIZES - 1]) + 4 + lower, words);
}

static const char style[] =
    ".surface{fill:#fcfcfb} .ink{fill:#1a1a19} .muted{fill:#6b6a65} .grid{stroke:#e7e6e1} "
    ".l-all{stroke:#e34948} .d-all{fill:#e34948} .l-twice{stroke:#2a78d6} .d-twice{fill:#2a78d6} "
    ".l-allhits{stroke:#eb6834;stroke-dasharray:5 4} .d-allhits{fill:#eb6834} "
    ".l-hits{stroke:#1baf7a;stroke-dasharray:5 4} .d-hits{fill:#1baf7a} "
    ".ring{stroke:#fcfcfb;stroke-width:1.5} text{font:13px system-ui,'Segoe UI',Roboto,sans-serif} "
    ".title{font-size:18px;font-weight:600} .line{fill:none;stroke-width:2.2} "
    "@media (prefers-color-scheme: dark){.surface{fill:#1a1a19} .ink{fill:#f4f3ef} "
    ".muted{fill:#a3a29b} .grid{stroke:#33322f} .ring{stroke:#1a1a19}}";

static void draw_axes(FILE *out) {
    for (int percent = 0; percent <= 100; percent += 20) {
        fprintf(out, "<path d=\"M%d %.1f L%d %.1f\" class=\"grid\"/>\n", LEFT,
                y_of(percent / 100.0), RIGHT, y_of(percent / 100.0));
        fprintf(out, "<text x=\"%d\" y=\"%.1f\" class=\"muted\" text-anchor=\"end\">%d %%</text>\n",
                LEFT - 8, y_of(percent / 100.0) + 4, percent);
    }
    for (int i = 0; i < SIZES; i++)
        fprintf(out,
                "<text x=\"%.1f\" y=\"%d\" class=\"muted\" text-anchor=\"middle\">%g %%</text>\n",
                x_of(shares[i]), BOTTOM + 20, 100 * shares[i]);
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" class=\"muted\" text-anchor=\"middle\">room of the cache, "
            "as a share of all different things</text>\n",
            (LEFT + RIGHT) / 2, BOTTOM + 42);
}

static int draw(const char *path, const result *all, const result *twice) {
    double lines[4][SIZES];
    FILE *out = fopen(path, "w");
    if (!out) return 0;
    for (int i = 0; i < SIZES; i++) {
        lines[0][i] = all[i].writes;
        lines[1][i] = twice[i].writes;
        lines[2][i] = all[i].hits;
        lines[3][i] = twice[i].hits;
    }
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 480\" role=\"img\">\n"
        "<style>%s</style>\n<rect width=\"860\" height=\"480\" rx=\"8\" class=\"surface\"/>\n"
        "<text x=\"74\" y=\"32\" class=\"ink title\">A cache that keeps what is asked for "
        "twice</text>\n<text x=\"74\" y=\"54\" class=\"muted\">Shares of 2·10⁶ requests; %.0f %% "
        "of all things are asked for once</text>\n",
        style, 100.0 * once / different);
    draw_axes(out);
    draw_line(out, "all", "written, all", 0, lines[0]);
    draw_line(out, "twice", "written, second request", 0, lines[1]);
    draw_line(out, "allhits", "found, all", 8, lines[2]);
    draw_line(out, "hits", "found, second request", -8, lines[3]);
    fprintf(out, "</svg>\n");
    return fclose(out) == 0;
}

int main(int argc, char **argv) {
    result all[SIZES], twice[SIZES];
    draw_requests();
    printf("%d requests for %u different things, %.0f %% of which are asked for once\n\n", REQUESTS,
           different, 100.0 * once / different);
    printf("              everything is kept      on second request\n");
    printf("      room    written    found        written    found      writes saved\n");
    for (int i = 0; i < SIZES; i++) {
        tamis_admission *admission;
        const uint32_t max = (uint32_t)(shares[i] * different);
        if (tamis_admission_create(&admission, "capacity=200k,fpr=0.1%", NULL)) {
            fprintf(stderr, "%s\n", tamis_why());
            return 2;
        }
        all[i] = run_cache(max, NULL);
        twice[i] = run_cache(max, admission);
        printf("%10u   %6.1f %%   %6.1f %%      %6.1f %%   %6.1f %%       %6.1f %%\n", max,
               100 * all[i].writes, 100 * all[i].hits, 100 * twice[i].writes, 100 * twice[i].hits,
               100 * (1 - twice[i].writes / all[i].writes));
        tamis_admission_free(admission);
    }
    if (argc == 3 && strcmp(argv[1], "--svg") == 0 && !draw(argv[2], all, twice)) {
        perror(argv[2]);
        return 2;
    }
    return 0;
}
