/* SPDX-License-Identifier: MIT */
/* reconcile_session.c: two sets by a conversation: both here, one in a stream on disk, or over a
 * wire.
 *
 * A stream on disk: what `--write-stream` writes and `--read-stream` reads.
 *
 *       0  magic    8     10  zero           6     24  secret of the hash  16
 *       8  version  2     16  form of keys   8     40  bytes of a talk that goes one way
 *
 * Over a wire each frame begins with a letter: 't' is a piece of the talk, 'l' a piece of the lines
 * that one side has and the other wants. The end that asks sends its lines first. A line is two
 * lengths of 4 bytes, its key's and its own, then both; a key that is the whole line has the length
 * NO_KEY and no bytes. What comes is believed only if its key has a hash that we lack. */
#include "cli/net/reconcile.h"
#include "tamis_engine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { TALK_FRAME = 't', LINES_FRAME = 'l' };

/* ---- A talk of a set ---- */

/* What --seed says instead of the system: the same symbols each time. */
static void spread_seed(const struct args *args, uint8_t side, uint8_t bytes[16]) {
    memset(bytes, side, 16);
    put_number(bytes, 8, args->setting[OPT_SEED].number);
}

static int make_secret(const struct args *args, uint8_t secret[TALK_SECRET_BYTES]) {
    if (!given(args, OPT_SEED)) return draw_random(args, secret, TALK_SECRET_BYTES);
    spread_seed(args, 0, secret);
    return 0;
}

static int open_session(const struct args *args, tamis_session **session, enum tamis_side side,
                        const struct set *set, bool is_one_way) {
    struct tamis_session_options options = {.struct_size = sizeof options,
                                            .is_one_way = is_one_way};
    char hash[40];
    uint8_t nonce[16];
    const struct tamis_info info = info_measured(set->hasher);
    /* Sides with different secrets would find that everything differs. */
    snprintf(hash, sizeof hash, "sip13 %016" PRIx64, info.key_id);
    options.hash = hash;
    spread_seed(args, (uint8_t)side, nonce);
    if (given(args, OPT_SEED)) options.nonce = nonce;
    if (given(args, OPT_SYMBOLS)) options.symbols = args->setting[OPT_SYMBOLS].number;
    options.max_symbols = options.symbols;
    if (given(args, OPT_LIMIT)) options.max_bytes = args->setting[OPT_LIMIT].number;
    return check_status(
        args, NULL, tamis_session_create(session, side, set->hashes.at, set->hashes.n, &options));
}

/* What came out, as the side that is `ours` sees it. */
static int take_outcome(const struct args *args, const tamis_session *session, enum side ours,
                        struct outcome *outcome) {
    struct tamis_session_item item;
    uint64_t cursor = 0;
    outcome->has_session = true;
    outcome->session = (struct tamis_session_info)TAMIS_SESSION_INFO_INIT;
    tamis_session_get_info(session, &outcome->session);
    outcome->session_bytes = outcome->session.bytes_sent + outcome->session.bytes_taken;
    outcome->keys[ours] = outcome->session.our_n;
    outcome->keys[!ours] = outcome->session.their_n;
    outcome->has_keys[FIRST] = outcome->has_keys[SECOND] = true;
    while (tamis_session_next(session, &cursor, &item))
        if (!hashes_add(&outcome->only[item.is_ours ? ours : !ours], item.hash))
            return fail_memory(args);
    for (int i = FIRST; i <= SECOND; i++)
        (void)sort_distinct(outcome->only[i].at, &outcome->only[i].n, NULL);
    return 0;
}

/* How it ended: whole, partial, or not at all. */
static int end_session(const struct args *args, const char *peer, tamis_session *session,
                       enum side ours, struct outcome *outcome) {
    const tamis_status status = tamis_session_finish(session);
    if (status && status != TAMIS_PARTIAL) return fail_why(args, peer, status);
    outcome->is_partial = status == TAMIS_PARTIAL;
    return take_outcome(args, session, ours, outcome);
}

int list_both(const struct args *args, const struct outcome *outcome, struct set *const set[2],
              const char *advice) {
    struct list list = {0};
    int code = refuse_partial(args, outcome, advice);
    if (!code) code = list_begin(&list, args);
    for (int i = FIRST; i <= SECOND && !code; i++)
        code = set[i] ? list_set(&list, (enum side)i, set[i], &outcome->only[i])
                      : list_hashes(&list, (enum side)i, &outcome->only[i]);
    return list_end(&list, code);
}

/* ---- Both here ---- */

/* Carries what one says to the other; false when there was nothing. */
static bool carry(tamis_session *from, tamis_session *to, tamis_status *status) {
    uint8_t bytes[1024]; /* small, so that little is said in vain */
    const size_t size = *status ? 0 : tamis_session_output(from, bytes, sizeof bytes);
    if (size > 0) *status = tamis_session_input(to, bytes, size);
    return size > 0;
}

static int session_here(const struct args *args, const struct set set[2], struct outcome *outcome) {
    tamis_session *session[2] = {NULL, NULL};
    tamis_status status = TAMIS_OK;
    bool goes_on = true;
    int code = open_session(args, &session[FIRST], TAMIS_SENDER, &set[FIRST], false);
    if (!code) code = open_session(args, &session[SECOND], TAMIS_RECEIVER, &set[SECOND], false);
    while (!code && goes_on && !status) {
        goes_on = carry(session[FIRST], session[SECOND], &status);
        goes_on |= carry(session[SECOND], session[FIRST], &status);
    }
    if (!code && status) code = fail_why(args, NULL, status);
    if (!code) code = end_session(args, NULL, session[SECOND], SECOND, outcome);
    tamis_session_free(session[FIRST]);
    tamis_session_free(session[SECOND]);
    return code;
}

static const char more_symbols[] = "--symbols allows more";

int reconcile_here(const struct args *args, struct outcome *outcome) {
    struct set set[2] = {{0}, {0}};
    uint8_t secret[TALK_SECRET_BYTES];
    tamis *hasher = NULL;
    int code = make_secret(args, secret);
    if (!code) code = make_hasher(args, secret, &hasher);
    for (size_t i = 0; i < 2 && !code; i++) {
        outcome->name[i] = args->operand[i];
        code = set_open(&set[i], args, args->operand[i]);
        if (!code) code = set_read(&set[i], hasher);
    }
    if (!code) code = session_here(args, set, outcome);
    if (!code) code = list_both(args, outcome, (struct set *[]){&set[0], &set[1]}, more_symbols);
    set_close(&set[FIRST]);
    set_close(&set[SECOND]);
    tamis_free(hasher);
    return code;
}

/* ---- A stream on disk ---- */

enum { AT_VERSION = 8, AT_FORM = 16, AT_SECRET = 24, STREAM_HEADER = 40, STREAM_VERSION = 1 };

static const uint8_t magic[8] = {0xd6, 't', 'e', 'l', 'l', 0x0d, 0x1a, 0x0a};

bool is_stream_file(const char *path) {
    return file_starts_with(path, magic);
}

static int write_stream(const struct args *args, struct set *set, const uint8_t *secret) {
    uint8_t header[STREAM_HEADER] = {0}, bytes[16 * 1024];
    struct new_file file;
    tamis_session *session = NULL;
    size_t size = 0;
    memcpy(header, magic, sizeof magic);
    header[AT_VERSION] = STREAM_VERSION;
    put_number(header + AT_FORM, 8, form_mark(set));
    memcpy(header + AT_SECRET, secret, TALK_SECRET_BYTES);
    const char *path = given(args, OPT_OUTPUT) ? args->setting[OPT_OUTPUT].text : "-";
    int code = open_session(args, &session, TAMIS_SENDER, set, true);
    if (!code && !(code = file_begin(&file, args, path, TAMIS_READERS_USUAL))) {
        bool is_good = file_put(&file, header, sizeof header);
        while (is_good && (size = tamis_session_output(session, bytes, sizeof bytes)) > 0)
            is_good = file_put(&file, bytes, size);
        code = file_end(&file, is_good);
    }
    if (!code && !given(args, OPT_QUIET)) {
        struct tamis_session_info info = TAMIS_SESSION_INFO_INIT;
        tamis_session_get_info(session, &info);
        fprintf(stderr, "%s: %s symbols of %s, %s\n", output_name(path),
                human_count(info.symbols).text, human_number(info.our_n, "key").text,
                human_bytes(STREAM_HEADER + info.bytes_sent).text);
    }
    tamis_session_free(session);
    return code;
}

int reconcile_tell(const struct args *args) {
    struct set set = {0};
    uint8_t secret[TALK_SECRET_BYTES];
    tamis *hasher = NULL;
    int code = file_may_write(args, given(args, OPT_OUTPUT) ? args->setting[OPT_OUTPUT].text : "-",
                              "a stream");
    if (!code) code = make_secret(args, secret);
    if (!code) code = make_hasher(args, secret, &hasher);
    if (!code) code = set_open(&set, args, args->operand[0]);
    if (!code) code = set_read(&set, hasher);
    if (!code) code = write_stream(args, &set, secret);
    set_close(&set);
    tamis_free(hasher);
    return code;
}

/* The head of a stream, checked. */
static int read_header(const struct args *args, const struct bytes *bytes, tamis **hasher,
                       uint64_t *form) {
    const uint8_t *at = bytes->at;
    if (bytes->size < sizeof magic || memcmp(at, magic, sizeof magic) != 0)
        return fail(args, bytes->path, "not a stream of \"tamis reconcile --write-stream\"");
    if (bytes->size < STREAM_HEADER) return fail(args, bytes->path, "the stream is truncated");
    const unsigned version = (unsigned)get_number(at + AT_VERSION, 2);
    if (version != STREAM_VERSION)
        return fail(args, bytes->path, "a stream of version %u; this tamis supports version %d",
                    version, STREAM_VERSION);
    for (size_t i = AT_VERSION + 2; i < AT_FORM; i++)
        if (at[i] != 0)
            return fail(args, bytes->path, "its header is unknown to this version of tamis");
    *form = get_number(at + AT_FORM, 8);
    return make_hasher(args, at + AT_SECRET, hasher);
}

int stream_hasher(const struct args *args, const char *path, tamis **hasher, uint64_t *form) {
    struct bytes bytes;
    int code = bytes_open(&bytes, args, path);
    if (!code) code = read_header(args, &bytes, hasher, form);
    bytes_close(&bytes);
    return code;
}

static int receive_stream(const struct args *args, const struct bytes *bytes, const struct set *set,
                          struct outcome *outcome) {
    tamis_session *session = NULL;
    int code = open_session(args, &session, TAMIS_RECEIVER, set, true);
    if (!code) {
        const tamis_status status =
            tamis_session_input(session, bytes->at + STREAM_HEADER, bytes->size - STREAM_HEADER);
        if (status && status != TAMIS_PARTIAL) code = fail_why(args, bytes->path, status);
    }
    if (!code) code = end_session(args, bytes->path, session, SECOND, outcome);
    tamis_session_free(session);
    return code;
}

int reconcile_stream(const struct args *args, struct outcome *outcome) {
    const bool is_asked = given(args, OPT_READ_STREAM);
    const char *stream = is_asked ? args->setting[OPT_READ_STREAM].text : args->operand[0];
    struct set set = {0};
    struct bytes bytes = {0};
    tamis *hasher = NULL;
    uint64_t form = 0;
    outcome->name[FIRST] = stream;
    outcome->name[SECOND] = args->operand[is_asked ? 0 : 1];
    int code = bytes_open(&bytes, args, stream);
    if (!code) code = read_header(args, &bytes, &hasher, &form);
    if (!code) code = set_open(&set, args, outcome->name[SECOND]);
    if (!code && form != form_mark(&set))
        code = fail(args, bytes.path,
                    "its keys were made from lines differently; --keys, --hex, --base64 and "
                    "--canon must be the same");
    if (!code) code = set_read(&set, hasher);
    if (!code) code = receive_stream(args, &bytes, &set, outcome);
    const struct human advice = human_words("make the stream with more than %s, using --symbols",
                                            human_count(outcome->session.symbols).text);
    if (!code) code = list_both(args, outcome, (struct set *[]){NULL, &set}, advice.text);
    set_close(&set);
    bytes_close(&bytes);
    tamis_free(hasher);
    return code;
}

/* ---- Over a wire: the talk ---- */

/* The other side is told why, too; what goes wrong with that is no second complaint. */
static int give_up(struct wire *wire, tamis_session *session, tamis_status status) {
    uint8_t bytes[4096] = {TALK_FRAME};
    const int code = fail_why(wire->args, wire->peer, status);
    wire->is_quiet = true;
    const size_t size = tamis_session_output(session, bytes + 1, sizeof bytes - 1);
    if (size > 0 && !wire_send(wire, bytes, size + 1, false)) (void)wire_flush(wire);
    return code;
}

static int fail_frame(const struct wire *wire) {
    return wire_fail(wire, "received an unexpected frame");
}

static int converse(struct wire *wire, tamis_session *session) {
    uint8_t bytes[16 * 1024] = {TALK_FRAME};
    int code = 0;
    while (!code) {
        const size_t size = tamis_session_output(session, bytes + 1, sizeof bytes - 1);
        if (size > 0) code = wire_send(wire, bytes, size + 1, false);
        if (code || tamis_session_is_over(session)) break;
        /* A side with more to send only polls; a side without waits. */
        const uint8_t *frame = NULL;
        size_t len = 0;
        bool is_there = true;
        code = wire_receive(wire, &frame, &len, size > 0 ? &is_there : NULL);
        if (code || !is_there) continue;
        if (len < 1 || frame[0] != TALK_FRAME || wire->had_last) return fail_frame(wire);
        const tamis_status status = tamis_session_input(session, frame + 1, len - 1);
        if (status && status != TAMIS_PARTIAL) return give_up(wire, session, status);
    }
    return code ? code : wire_flush(wire);
}

/* ---- Over a wire: lines ---- */

#define NO_KEY UINT32_MAX
enum { MAX_LINE = 16 << 20, LINE_HEADER = 8 };

struct sender {
    struct wire *wire;
    uint8_t *frame;
    size_t len;
};

static int send_bytes(struct sender *sender, const uint8_t *bytes, size_t len) {
    int code = 0;
    while (len > 0 && !code) {
        const size_t room = FRAME_BYTES - sender->len, some = len < room ? len : room;
        memcpy(sender->frame + sender->len, bytes, some);
        sender->len += some;
        bytes += some;
        len -= some;
        if (sender->len < FRAME_BYTES) break;
        code = wire_send(sender->wire, sender->frame, sender->len, false);
        sender->len = 1; /* the letter stays */
    }
    return code;
}

static int send_line(void *with, uint64_t hash, const struct tamis_key *line,
                     const struct tamis_key *key) {
    struct sender *sender = with;
    uint8_t header[LINE_HEADER];
    const bool is_whole =
        key->len == line->len && (key->len == 0 || memcmp(key->bytes, line->bytes, key->len) == 0);
    (void)hash;
    /* The other side lists the hash of what is too long to be sent. */
    if (line->len > MAX_LINE || key->len > MAX_LINE) return 0;
    put_number(header, 4, is_whole ? NO_KEY : key->len);
    put_number(header + 4, 4, line->len);
    int code = send_bytes(sender, header, sizeof header);
    if (!code && !is_whole) code = send_bytes(sender, key->bytes, key->len);
    return code ? code : send_bytes(sender, line->bytes, line->len);
}

static int send_lines(struct wire *wire, struct set *set, const struct hashes *only,
                      bool is_wanted) {
    struct sender sender = {.wire = wire, .frame = malloc(FRAME_BYTES), .len = 1};
    struct line_taker taker = {.take = send_line, .with = &sender};
    if (!sender.frame) return fail_memory(wire->args);
    sender.frame[0] = LINES_FRAME;
    int code = is_wanted ? set_lines(set, only, &taker) : 0;
    if (!code) code = wire_send(wire, sender.frame, sender.len, true);
    if (!code) code = wire_flush(wire);
    free(sender.frame);
    return code;
}

/* What the other side has and we lack: its lines, one after the other, each after its length. */
struct arrivals {
    uint8_t *bytes;
    size_t len, room;
    size_t whole;  /* up to here lines are whole and checked */
    bool *is_here; /* for each hash */
};

static bool arrivals_add(struct arrivals *arrivals, const uint8_t *bytes, size_t len) {
    if (!list_grow(&arrivals->bytes, &arrivals->room, arrivals->len + len, 1)) return false;
    if (len > 0) memcpy(arrivals->bytes + arrivals->len, bytes, len);
    arrivals->len += len;
    return true;
}

static int check_line(const struct wire *wire, const struct arrivals *arrivals, const tamis *hasher,
                      const struct hashes *lacked, const struct tamis_key *key) {
    const size_t at = hashes_find(lacked, tamis_hash(hasher, key->bytes, key->len));
    if (at == lacked->n) return wire_fail(wire, "sent a line that is not missing here");
    if (arrivals->is_here[at]) return wire_fail(wire, "sent the same line twice");
    arrivals->is_here[at] = true;
    return 0;
}

/* Lines that have come whole. Where one ends the next begins, so that nothing is moved. */
static int check_lines(const struct wire *wire, struct arrivals *arrivals, const tamis *hasher,
                       const struct hashes *lacked) {
    int code = 0;
    while (!code && arrivals->len - arrivals->whole >= LINE_HEADER) {
        const uint8_t *at = arrivals->bytes + arrivals->whole;
        const size_t key_len = (size_t)get_number(at, 4), line_len = (size_t)get_number(at + 4, 4);
        const bool is_whole = key_len == NO_KEY;
        if (line_len > MAX_LINE || (!is_whole && key_len > MAX_LINE))
            return wire_fail(wire, "sent a line of %s (maximum: %s)",
                             human_bytes(is_whole || line_len > key_len ? line_len : key_len).text,
                             human_bytes(MAX_LINE).text);
        const size_t key_bytes = is_whole ? 0 : key_len;
        if (arrivals->len - arrivals->whole - LINE_HEADER < key_bytes + line_len) return 0;
        const struct tamis_key key = {.bytes = at + LINE_HEADER,
                                      .len = is_whole ? line_len : key_len};
        code = check_line(wire, arrivals, hasher, lacked, &key);
        arrivals->whole += LINE_HEADER + key_bytes + line_len;
    }
    return code;
}

static int receive_lines(struct wire *wire, struct arrivals *arrivals, const tamis *hasher,
                         const struct hashes *lacked) {
    int code = 0;
    const uint8_t *frame = NULL;
    size_t len = 0;
    arrivals->is_here = calloc(lacked->n + 1, sizeof *arrivals->is_here);
    if (!arrivals->is_here) return fail_memory(wire->args);
    while (!code && !wire->had_last) {
        code = wire_receive(wire, &frame, &len, NULL);
        if (code) break;
        if (len < 1 || frame[0] != LINES_FRAME) return fail_frame(wire);
        if (!arrivals_add(arrivals, frame + 1, len - 1)) return fail_memory(wire->args);
        code = check_lines(wire, arrivals, hasher, lacked);
    }
    if (!code && arrivals->whole < arrivals->len)
        code = wire_fail(wire, "its last line is incomplete");
    return code;
}

static int list_arrivals(struct list *list, const struct arrivals *arrivals,
                         const struct hashes *lacked) {
    int code = 0;
    for (size_t i = 0; i < arrivals->whole && !code;) {
        const uint8_t *at = arrivals->bytes + i;
        const size_t key_len = (size_t)get_number(at, 4),
                     key_bytes = key_len == NO_KEY ? 0 : key_len;
        const struct tamis_key line = {.bytes = at + LINE_HEADER + key_bytes,
                                       .len = (size_t)get_number(at + 4, 4)};
        code = list_line(list, SECOND, &line);
        i += LINE_HEADER + key_bytes + line.len;
    }
    for (size_t i = 0; i < lacked->n && !code; i++)
        if (!arrivals->is_here[i]) code = list_hash(list, SECOND, lacked->at[i]);
    return code;
}

/* ---- Over a wire: the whole ---- */

struct meeting {
    struct wire wire;
    struct set set;
    tamis *hasher;
    tamis_session *session;
    struct arrivals arrivals;
    bool prints, is_line_wanted;
};

static int exchange_lines(struct meeting *meeting, struct outcome *outcome) {
    struct wire *wire = &meeting->wire;
    const bool asks = wire->end == WIRE_ASKS;
    int code = 0;
    for (int turn = 0; turn < 2 && !code; turn++) {
        if ((turn == 0) == asks)
            code = send_lines(wire, &meeting->set, &outcome->only[FIRST], meeting->is_line_wanted);
        else
            code = receive_lines(wire, &meeting->arrivals, meeting->hasher, &outcome->only[SECOND]);
    }
    return code;
}

static int meet(struct meeting *meeting, const struct args *args, struct outcome *outcome) {
    struct wire *wire = &meeting->wire;
    struct set *set = &meeting->set;
    const struct list list = {.args = args};
    int code = set_open(set, args, args->operand[0]);
    /* Nobody should have to call to learn that. */
    if (!code && !is_dash(set->name) && access(set->name, R_OK) < 0)
        code = fail(args, set->name, "cannot open: %s", strerror(errno));
    if (!code) code = wire_open(wire, args);
    if (!code)
        code = wire_greet(wire, form_mark(set), meeting->prints && list_wants(&list, SECOND),
                          &meeting->is_line_wanted);
    if (!code) code = make_hasher(args, wire->secret, &meeting->hasher);
    set->pause = (struct pause){.call = wire_alive, .with = wire};
    if (!code) code = set_read(set, meeting->hasher);
    if (!code)
        code = open_session(args, &meeting->session,
                            wire->end == WIRE_ASKS ? TAMIS_RECEIVER : TAMIS_SENDER, set, false);
    if (!code) code = converse(wire, meeting->session);
    if (!code) code = end_session(args, wire->peer, meeting->session, FIRST, outcome);
    if (!code && !outcome->is_partial) {
        code = exchange_lines(meeting, outcome);
        if (!code) code = wire_finish(wire);
    }
    outcome->has_wire = true;
    outcome->sent = wire->sent;
    outcome->received = wire->received;
    set->pause = (struct pause){0};
    wire_close(wire);
    return code;
}

int reconcile_there(const struct args *args, struct outcome *outcome) {
    /* Standard output belongs to the conversation. */
    struct meeting meeting = {.prints = !given(args, OPT_STDIO) || given(args, OPT_OUTPUT)};
    struct list list = {0};
    outcome->name[FIRST] = "here";
    outcome->name[SECOND] = "there";
    int code = meet(&meeting, args, outcome);
    if (!code) code = refuse_partial(args, outcome, more_symbols);
    if (!code && meeting.prints) {
        code = list_begin(&list, args);
        if (!code) code = list_set(&list, FIRST, &meeting.set, &outcome->only[FIRST]);
        if (!code && outcome->is_partial)
            code = list_hashes(&list, SECOND, &outcome->only[SECOND]);
        else if (!code && list_wants(&list, SECOND))
            code = list_arrivals(&list, &meeting.arrivals, &outcome->only[SECOND]);
        code = list_end(&list, code);
    }
    tamis_session_free(meeting.session);
    set_close(&meeting.set);
    tamis_free(meeting.hasher);
    free(meeting.arrivals.bytes);
    free(meeting.arrivals.is_here);
    return code;
}
