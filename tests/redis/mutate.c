/* SPDX-License-Identifier: MIT */
/* A client that sends mutated payloads to a server, and checks that the server stays healthy.
 *
 *     mutate PORT SEEDS COUNT SEED
 *
 * SEEDS holds valid payloads (mutate.py writes them): dumps for RESTORE, images for TAMIS.LOAD,
 * chunks for BF.LOADCHUNK and CF.LOADCHUNK. Each mutant is one of them with one to four changes:
 * bits, numbers at their limits, cuts, insertions, pieces of others; in dumps also whole fields.
 * Checksums are recomputed, so that the module sees what changed: the CRC of the dump always, those
 * of the image seven times in eight. What is accepted is queried, changed, measured and dumped.
 * After each batch of 64 come PING and a query with a known answer. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bits/bits.h"
#include "foreign/foreign_hashes.h"
#include "tests/support/seal.h"

static void stop(const char *why) {
    fprintf(stderr, "mutate: %s\n", why);
    exit(1);
}

/* ---- Randomness: the same for the same seed -------------------------------------------------- */

static uint64_t chance;

static uint64_t draw(void) {
    uint64_t x = chance += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static size_t below(size_t n) {
    return (size_t)(draw() % n);
}

static uint64_t edge(uint64_t now) {
    switch (below(6)) {
    case 0: return now + 1 - below(3);
    case 1: return now ^ (uint64_t)1 << below(64);
    case 2: return (uint64_t)1 << below(64);
    case 3: return ((uint64_t)1 << below(64)) - 1;
    case 4: return now * (2 + below(8));
    default: {
        static const uint64_t values[] = {0,          1,          2,       63,        64,
                                          65,         255,        256,     65535,     65536,
                                          0x7fffffff, 0xffffffff, 1 << 30, UINT64_MAX};
        return values[below(sizeof values / sizeof *values)];
    }
    }
}

static double odd_real(double now) {
    const double values[] = {0,      -0.0,      1,   -1, NAN,     INFINITY, -INFINITY,
                             1e-320, 1 - 1e-16, 0.5, 2,  now * 2, -now};
    return values[below(sizeof values / sizeof *values)];
}

/* ---- Buffers --------------------------------------------------------------------------------- */

enum { MAX = 1 << 17 };
typedef struct bytes {
    size_t size;
    uint8_t at[MAX];
} bytes;

static void put(bytes *b, const void *from, size_t n) {
    if (n > MAX - b->size) n = MAX - b->size;
    if (n) memcpy(b->at + b->size, from, n);
    b->size += n;
}

static void put_byte(bytes *b, unsigned byte) {
    const uint8_t x = (uint8_t)byte;
    put(b, &x, 1);
}

/* Replaces `out` bytes with others. */
static void splice(bytes *b, size_t at, size_t out, const uint8_t *in, size_t n) {
    static uint8_t copy[MAX];
    if (n > MAX - (b->size - out)) return;
    if (n) memcpy(copy, in, n);
    memmove(b->at + at + n, b->at + at + out, b->size - at - out);
    if (n) memcpy(b->at + at, copy, n);
    b->size = b->size - out + n;
}

/* ---- Seeds ----------------------------------------------------------------------------------- */

typedef enum way { RESTORE, LOAD, BF_CHUNKS, CF_CHUNKS, WAYS } way;
enum { MAX_PARTS = 8, MAX_SEEDS = 512 };
typedef struct seed {
    way way;
    unsigned parts;
    struct part {
        uint64_t iterator;
        size_t size;
        const uint8_t *at;
    } part[MAX_PARTS];
} seed;

static seed seeds[MAX_SEEDS];
static size_t seed_count;

/* u32 way, u32 parts; for each part u64 iterator, u32 size, bytes. */
static void read_seeds(const char *path) {
    static uint8_t all[1 << 24];
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(all, 1, sizeof all, file) : 0;
    size_t at = 0;
    if (file) fclose(file);
    while (at < size && seed_count < MAX_SEEDS) {
        seed *s = &seeds[seed_count++];
        s->way = (way)tamis__get32(all + at);
        s->parts = tamis__get32(all + at + 4);
        at += 8;
        if (s->way >= WAYS || s->parts > MAX_PARTS) stop("seeds of another version");
        for (unsigned i = 0; i < s->parts; i++) {
            s->part[i].iterator = tamis__get64(all + at);
            s->part[i].size = tamis__get32(all + at + 8);
            s->part[i].at = all + at + 12;
            at += 12 + s->part[i].size;
        }
    }
    if (!seed_count || at != size) stop("no seeds, or half of them");
}

/* Picks the way first: some have more seeds. */
static const seed *any_seed(void) {
    static const way often[] = {RESTORE, RESTORE, RESTORE, LOAD, LOAD, LOAD, BF_CHUNKS, CF_CHUNKS};
    static const seed *of[WAYS][MAX_SEEDS];
    static size_t count[WAYS];
    if (!count[RESTORE])
        for (size_t i = 0; i < seed_count; i++) of[seeds[i].way][count[seeds[i].way]++] = &seeds[i];
    const way w = often[below(sizeof often / sizeof *often)];
    return count[w] ? of[w][below(count[w])] : &seeds[below(seed_count)];
}

static const struct part *any_part(void) {
    const seed *s = &seeds[below(seed_count)];
    return &s->part[below(s->parts)];
}

/* ---- Mutating bytes -------------------------------------------------------------------------- */

static void change_number(bytes *b, size_t at) {
    if (b->size < 8) return;
    if (at > b->size - 8) at = b->size - 8;
    if (below(8) == 0) {
        double x;
        memcpy(&x, b->at + at, sizeof x);
        x = odd_real(x);
        memcpy(b->at + at, &x, sizeof x);
    } else if (below(3) == 0) {
        tamis__put32(b->at + at, (uint32_t)edge(tamis__get32(b->at + at)));
    } else {
        tamis__put64(b->at + at, edge(tamis__get64(b->at + at)));
    }
}

static void take_from_others(bytes *b) {
    const struct part *other = any_part();
    const size_t n = other->size ? 1 + below(other->size) : 0, from = below(other->size - n + 1);
    const size_t at = below(b->size + 1), left = b->size - at;
    splice(b, at, below(2) ? 0 : n < left ? n : left, other->at + from, n);
}

static void mutate(bytes *b) {
    static const uint8_t noise[16] = {0, 0xff, 1, 2, 0x80, 0x81, 0xc0};
    if (!b->size) {
        put(b, noise, 1 + below(16));
        return;
    }
    const size_t at = below(4) ? below(b->size) : below(b->size < 256 ? b->size : 256);
    switch (below(8)) {
    case 0:
    case 1: b->at[at] ^= (uint8_t)(1 << below(8)); break;
    case 2: b->at[at] = (uint8_t)draw(); break;
    case 3: change_number(b, at & ~(size_t)7); break;
    case 4: change_number(b, at); break;
    case 5: splice(b, at, 1 + below(b->size - at < 16 ? b->size - at : 16), NULL, 0); break;
    case 6: splice(b, at, 0, noise, 1 + below(16)); break;
    default:
        if (below(4) == 0)
            b->size = at;
        else
            take_from_others(b);
    }
}

static const uint8_t magic[] = {0xd6, 't', 'a', 'm', 'i', 's', 0x1a, 0x0a};

/* An image usually keeps valid checksums, and often sizes that fit. */
static void mutate_image(bytes *b) {
    if (below(2) && b->size > TEST_HEADER_BYTES) {
        change_number(b, TEST_WORDS_AT + 8 * below(8));
        if (below(2)) mutate(b);
    } else {
        mutate(b);
    }
    if (b->size < TEST_HEADER_BYTES || memcmp(b->at, magic, sizeof magic) != 0 || !below(8)) return;
    if (below(2)) {
        const uint64_t notes = tamis__get64(b->at + 152), rest = b->size - TEST_HEADER_BYTES;
        if (notes <= rest) tamis__put64(b->at + 144, rest - notes);
    }
    test_reseal(b->at, b->size);
}

/* ---- Dumps: a module's fields, between type and version -------------------------------------- */

enum {
    END = 0,
    SIGNED = 1,
    UNSIGNED = 2,
    FLOAT = 3,
    DOUBLE = 4,
    STRING = 5,
    TYPE_MODULE = 7,
    FOOTER = 10,
    MAX_FIELDS = 64
};

typedef struct field {
    unsigned op;
    uint64_t number;
    bytes *text;
} field;

typedef struct dump {
    uint64_t type;
    size_t count;
    field fields[MAX_FIELDS];
} dump;

static bool take_length(const uint8_t **at, const uint8_t *end, uint64_t *n) {
    if (*at == end) return false;
    const unsigned first = **at, need = first >> 6 == 0   ? 1
                                        : first >> 6 == 1 ? 2
                                        : first == 0x80   ? 5
                                        : first == 0x81   ? 9
                                                          : 0;
    if (!need || (size_t)(end - *at) < need) return false;
    *n = first & 63;
    if (need == 2) *n = *n << 8 | (*at)[1];
    if (need > 2) *n = 0;
    for (unsigned i = 1; need > 2 && i < need; i++) *n = *n << 8 | (*at)[i];
    *at += need;
    return true;
}

static void put_length(bytes *b, uint64_t n) {
    if (n < 64) {
        put_byte(b, (unsigned)n);
    } else {
        put_byte(b, n >> 32 ? 0x81 : 0x80);
        for (int shift = n >> 32 ? 56 : 24; shift >= 0; shift -= 8)
            put_byte(b, (unsigned)(n >> shift & 255));
    }
}

static bool take_field(const uint8_t **at, const uint8_t *end, field *f) {
    static bytes texts[MAX_FIELDS];
    static size_t next;
    uint64_t op;
    if (!take_length(at, end, &op) || op == END || op > STRING) return false;
    *f = (field){.op = (unsigned)op};
    if (op == DOUBLE && end - *at >= 8) return f->number = tamis__get64(*at), *at += 8, true;
    if (!take_length(at, end, &f->number)) return false;
    if (op != STRING) return true;
    if (f->number > (uint64_t)(end - *at)) return false;
    f->text = &texts[next++ % MAX_FIELDS];
    f->text->size = 0;
    put(f->text, *at, (size_t)f->number);
    *at += f->number;
    return true;
}

static bool parse(const struct part *p, dump *d) {
    const uint8_t *at = p->at + 1, *end = p->at + p->size - FOOTER;
    d->count = 0;
    if (p->size < FOOTER + 2 || p->at[0] != TYPE_MODULE || !take_length(&at, end, &d->type))
        return false;
    while (d->count < MAX_FIELDS - 8 && take_field(&at, end, &d->fields[d->count])) d->count++;
    return d->count > 0;
}

static void write_dump(const dump *d, bytes *b) {
    put_byte(b, TYPE_MODULE);
    put_length(b, d->type);
    for (size_t i = 0; i < d->count; i++) {
        const field *f = &d->fields[i];
        uint8_t number[8];
        put_byte(b, f->op);
        tamis__put64(number, f->number);
        if (f->op == DOUBLE) put(b, number, 8);
        if (f->op == STRING) {
            put_length(b, below(64) ? f->text->size : edge(f->text->size));
            put(b, f->text->at, f->text->size);
        } else if (f->op != DOUBLE) {
            put_length(b, f->number);
        }
    }
    put_byte(b, END);
}

static void mutate_field(dump *d) {
    field *f = &d->fields[below(d->count)], *other = &d->fields[below(d->count)];
    const field kept = *f;
    switch (below(12)) {
    case 0: *f = *other, *other = kept; break;
    case 1: *f = d->fields[--d->count]; break;
    case 2: d->fields[d->count++] = *f; break;
    case 3: f->op = 1 + (unsigned)below(5), f->text = f->text ? f->text : other->text; break;
    default:
        if (f->op == STRING && f->text) {
            mutate_image(f->text);
        } else if (f->op == DOUBLE) {
            double x;
            memcpy(&x, &f->number, sizeof x);
            x = odd_real(x);
            memcpy(&f->number, &x, sizeof x);
        } else {
            f->number = edge(f->number);
        }
    }
    if (f->op == STRING && !f->text) *f = kept;
    if (d->count == 0) d->count = 1;
}

static void seal_dump(bytes *b, const uint8_t *footer) {
    uint8_t sum[8];
    const uint8_t version[2] = {(uint8_t)(below(64) ? footer[0] : draw()), footer[1]};
    put(b, version, 2);
    tamis__put64(sum, tamis__crc64(0, b->at, b->size));
    put(b, sum, 8);
}

static void mutate_dump(const struct part *p, bytes *b) {
    static dump d;
    const bool is_parsed = parse(p, &d);
    b->size = 0;
    if (is_parsed && below(4)) {
        for (size_t n = 1 + below(3); n--;) mutate_field(&d);
        write_dump(&d, b);
    } else {
        put(b, p->at, p->size - FOOTER);
        for (size_t n = 1 + below(4); n--;) mutate(b);
    }
    seal_dump(b, p->at + p->size - FOOTER);
}

/* ---- Commands and replies -------------------------------------------------------------------- */

static int server;
static uint8_t *out;
static size_t out_size, out_room;

static void send_bytes(const void *from, size_t n) {
    if (n > out_room - out_size) {
        out_room = 2 * (out_size + n);
        out = realloc(out, out_room);
        if (!out) stop("no memory");
    }
    memcpy(out + out_size, from, n);
    out_size += n;
}

static void word(const void *text, size_t n) {
    char head[32];
    send_bytes(head, (size_t)snprintf(head, sizeof head, "$%zu\r\n", n));
    send_bytes(text, n);
    send_bytes("\r\n", 2);
}

static void begin(unsigned words) {
    char head[32];
    send_bytes(head, (size_t)snprintf(head, sizeof head, "*%u\r\n", words));
}

static void say(const char *text) {
    const char *at = text;
    unsigned words = 1;
    while (*at) words += *at++ == ' ';
    begin(words);
    for (at = text; words--; at += strcspn(at, " ") + 1) word(at, strcspn(at, " "));
}

static void number_word(uint64_t n) {
    char text[32];
    word(text, (size_t)snprintf(text, sizeof text, "%lld", (long long)n));
}

static void flush(void) {
    for (size_t at = 0; at < out_size;) {
        const ssize_t n = send(server, out + at, out_size - at, MSG_NOSIGNAL);
        if (n <= 0) stop("the server closed the connection");
        at += (size_t)n;
    }
    out_size = 0;
}

static uint8_t in[1 << 16];
static size_t in_at, in_size;

static uint8_t next_byte(void) {
    if (in_at == in_size) {
        const ssize_t n = recv(server, in, sizeof in, 0);
        if (n <= 0) stop("the server closed the connection");
        in_at = 0, in_size = (size_t)n;
    }
    return in[in_at++];
}

/* The type of a reply, with its line in `line`; the rest is read and dropped. */
static char line[512];
static uint8_t first_byte; /* of the last string */

static char reply(void) {
    const char kind = (char)next_byte();
    size_t n = 0;
    for (uint8_t c; (c = next_byte()) != '\n';)
        if (n < sizeof line - 1 && c != '\r') line[n++] = (char)c;
    line[n] = 0;
    if (kind == '$')
        for (long size = atol(line) + 2, at = 0; size > 1 && at < size; at++) {
            const uint8_t c = next_byte();
            if (at == 0) first_byte = c;
        }
    if (kind == '*') {
        char kept[sizeof line];
        memcpy(kept, line, sizeof kept);
        for (long left = atol(line); left > 0; left--) reply();
        memcpy(line, kept, sizeof line);
    }
    return kind;
}

static void connect_to(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server = socket(AF_INET, SOCK_STREAM, 0);
    if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address))
        stop("no connection");
}

/* ---- Mutants --------------------------------------------------------------------------------- */

enum { BATCH = 64 };

/* Mutant i of a batch goes to key i. The last reply to it shows whether it was accepted. */
typedef struct mutant {
    way way;
    char key[4];
    unsigned replies;
} mutant;

static void key_word(const mutant *m) {
    word(m->key, strlen(m->key));
}

static void send_restore(mutant *m, const seed *s) {
    static bytes b;
    mutate_dump(&s->part[0], &b);
    begin(5);
    word("RESTORE", 7), key_word(m), word("0", 1), word(b.at, b.size), word("REPLACE", 7);
    m->replies++;
}

/* In one or two chunks, sometimes with wrong numbers. */
static void send_load(mutant *m, const seed *s) {
    static bytes b;
    b.size = 0;
    put(&b, s->part[0].at, s->part[0].size);
    for (size_t n = 1 + below(3); n--;) mutate_image(&b);
    const size_t cut = below(4) ? 0 : below(b.size + 1), starts[] = {0, cut, b.size};
    const uint64_t total = below(32) ? b.size : edge(b.size);
    for (unsigned i = cut == 0; i < 2; i++) {
        const uint64_t offset = below(64) ? starts[i] : edge(starts[i]);
        begin(5);
        word("TAMIS.LOAD", 10), key_word(m), number_word(offset), number_word(total);
        word(b.at + starts[i], starts[i + 1] - starts[i]);
        m->replies++;
    }
}

static void send_chunks(mutant *m, const seed *s) {
    static bytes b;
    const char *command = s->way == BF_CHUNKS ? "BF.LOADCHUNK" : "CF.LOADCHUNK";
    const size_t bad = below(s->parts);
    for (unsigned i = 0; i < s->parts; i++) {
        const struct part *p = &s->part[i];
        b.size = 0;
        put(&b, p->at, p->size);
        if (i == bad || !below(8)) mutate(&b);
        begin(4);
        word(command, strlen(command)), key_word(m);
        number_word(below(32) ? p->iterator : edge(p->iterator));
        word(b.at, b.size);
        m->replies++;
    }
}

static void send_mutant(mutant *m, unsigned number) {
    const seed *s = any_seed();
    *m = (mutant){.way = s->way};
    snprintf(m->key, sizeof m->key, "m%u", number % 100);
    if (s->way == RESTORE)
        send_restore(m, s);
    else if (s->way == LOAD)
        send_load(m, s);
    else
        send_chunks(m, s);
}

/* Uses whatever was accepted; % is its key, & another one accepted. */
static unsigned use(const mutant *m, const mutant *other) {
    static const char *const ways[] = {
        "TAMIS.HAS % a b item-1 1 2 3",
        "TAMIS.ADD % x y z",
        "TAMIS.HAS % x y z",
        "TAMIS.INFO %",
        "DUMP %",
        "TAMIS.REMOVE % a x",
        "TAMIS.COUNT % a 1",
        "TAMIS.ADDNEW % n 1",
        "TAMIS.PUT % k 7",
        "TAMIS.GET % 1",
        "TAMIS.MERGE % &",
        "TAMIS.FOLD % 2",
        "TAMIS.TICK %",
        "BF.ADD % y",
        "BF.MEXISTS % 1",
        "BF.INFO %",
        "BF.INSERT % ITEMS 1 2 3",
        "CF.ADD % y",
        "CF.DEL % 1",
        "CF.INFO %",
        "CF.COUNT % 1",
        "CF.INSERTNX % ITEMS 1 2 3",
        "CF.COMPACT %",
        "CMS.INCRBY % a 1 b 5",
        "CMS.QUERY % a 1",
        "CMS.INFO %",
        "CMS.MERGE % 1 &",
        "BF.SCANDUMP % 0",
        "CF.SCANDUMP % 0",
        "BF.SCANDUMP % 1",
        "CF.SCANDUMP % 1",
        "TAMIS.DUMP % 0",
        "DEBUG DIGEST-VALUE %",
        "COPY % n REPLACE",
        "MEMORY USAGE %",
        "BF.MADD % 1 2 3 4",
        "TAMIS.SECRET %",
        "TAMIS.HADD % 12345678abcdefgh",
        "TAMIS.HHAS % 12345678abcdefgh",
    };
    enum { WAYS_TO_USE = sizeof ways / sizeof *ways, TRIED = 12 };
    char text[100];
    for (unsigned i = 0; i < TRIED; i++) {
        size_t n = 0;
        for (const char *at = ways[i < 3 ? i : below(WAYS_TO_USE)]; *at; at++)
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  *at == '%' || *at == '&' ? "%s" : "%.1s",
                                  *at == '%'   ? m->key
                                  : *at == '&' ? other->key
                                               : at);
        say(text);
    }
    return TRIED;
}

static uint64_t taken[WAYS], refused[WAYS], used;

static bool was_let_in(const mutant *m) {
    char kind = 0;
    for (unsigned i = 0; i < m->replies; i++) kind = reply();
    if (kind == '-' && strlen(line) < 8) stop("a refusal without a sentence");
    if (kind == '-')
        refused[m->way]++;
    else
        taken[m->way]++;
    return kind != '-';
}

static void check_server(void) {
    say("PING");
    say("BITCOUNT never");
    say("TAMIS.HHAS good AAAAAAAABBBBBBBB");
    flush();
    if (reply() != '+' || strcmp(line, "PONG") != 0) stop("PING was not answered");
    if (reply() != ':' || strcmp(line, "0") != 0) stop("an answer is missing, or one too many");
    if (reply() != '$' || strcmp(line, "1") != 0 || first_byte != 1)
        stop("the good filter does not answer");
}

static void one_batch(unsigned n) {
    mutant mutants[BATCH];
    unsigned due = 0;
    for (unsigned i = 0; i < n; i++) send_mutant(&mutants[i], i);
    flush();
    const mutant *last = &mutants[0];
    for (unsigned i = 0; i < n; i++)
        if (was_let_in(&mutants[i]) || below(64) == 0) {
            due += use(&mutants[i], last);
            last = &mutants[i];
        }
    used += due;
    for (unsigned i = 0; i < n; i++) {
        begin(2);
        word("DEL", 3), key_word(&mutants[i]);
        due++;
    }
    flush();
    while (due--) reply();
    check_server();
}

int main(int argc, char **argv) {
    static const char *const names[WAYS] = {"RESTORE", "TAMIS.LOAD", "BF.LOADCHUNK",
                                            "CF.LOADCHUNK"};
    if (argc != 5) stop("mutate PORT SEEDS COUNT SEED");
    const uint64_t count = strtoull(argv[3], NULL, 10);
    chance = strtoull(argv[4], NULL, 10);
    read_seeds(argv[2]);
    connect_to(atoi(argv[1]));
    for (uint64_t left = count; left > 0;) {
        const unsigned n = left < BATCH ? (unsigned)left : BATCH;
        one_batch(n);
        left -= n;
    }
    for (int i = 0; i < WAYS; i++)
        printf("%s %llu %llu\n", names[i], (unsigned long long)refused[i],
               (unsigned long long)taken[i]);
    printf("used %llu\n", (unsigned long long)used);
    return 0;
}
