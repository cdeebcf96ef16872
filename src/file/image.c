/* SPDX-License-Identifier: MIT */
/* The image: header, payload, notes. docs/format.md specifies it for other implementations.
 *
 *       0  magic           8     80  shape words   8 x 8
 *       8  version         2    144  payload size      8
 *      10  hash mode       1    152  notes size        8
 *      11  key place       1    160  hash self-test    8
 *      12  kind id         4    168  zero              8
 *      16  may-ignore      4    176  content checksum  8
 *      20  must-refuse     4    184  header checksum   8
 *      24  seed            8    192  payload
 *      32  key id          8         notes
 *      40  secret         16
 *      56  capacity        8
 *      64  items           8
 *      72  one in N        8
 *
 * Every untrusted byte passes read_header and then check_content; what they accept can answer any
 * query. Checksums find accidents, not attackers: everything else here must hold without them,
 * which is how the fuzzer runs it. */
#include "file/image.h"

#include <math.h>
#include <string.h>

#include "base/sums.h"
#include "bits/bits.h"
#include "file/notes.h"

enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_HASH_MODE = 10,
    AT_KEY_PLACE = 11,
    AT_KIND = 12,
    AT_MAY_IGNORE = 16,
    AT_MUST_REFUSE = 20,
    AT_SEED = 24,
    AT_KEY_ID = 32,
    AT_SECRET = 40,
    AT_CAPACITY = 56,
    AT_ITEMS = 64,
    AT_ONE_IN = 72,
    AT_WORDS = 80,
    AT_PAYLOAD_SIZE = 144,
    AT_NOTES_SIZE = 152,
    AT_SELF_TEST = 160,
    AT_ZERO = 168,
    AT_CONTENT_SUM = 176,
    AT_HEADER_SUM = 184,
};

enum { VERSION = 1, HAS_STRAY_BITS = 1 /* of may_ignore */ };

/* A byte that is not UTF-8 before a letter, the name, the end-of-text byte of old systems, and a
 * newline that a careless transfer would change. */
static const uint8_t magic[8] = {0xd6, 't', 'a', 'm', 'i', 's', 0x1a, 0x0a};

#define MILLIONTHS 1e6

/* Rates that would round to 1 keep the last millionth: the gate refuses rates that are not below 1.
 * Files of other systems may have rates below any of ours: the smallest of ours represents them. */
uint64_t tamis__one_in(double fpr) {
    if (!(fpr > 0)) return 0;
    if (fpr < 1e-12) fpr = 1e-12;
    const uint64_t one_in = (uint64_t)(MILLIONTHS / fpr + 0.5), min = (uint64_t)MILLIONTHS + 1;
    return one_in < min ? min : one_in;
}

double tamis__fpr_of(uint64_t one_in) {
    return one_in ? MILLIONTHS / (double)one_in : 0;
}

static tamis_status corrupt(const char *what) {
    return tamis__fail(TAMIS_CORRUPT, "damaged: %s", what);
}

/* ---- The header ----------------------------------------------------------------------------- */

static tamis_status check_start(const uint8_t *h, uint64_t total) {
    if (total < TAMIS_IMAGE_HEADER_BYTES)
        return tamis__fail(TAMIS_CORRUPT, "not a Tamis image: %llu bytes, a header alone has %d",
                           (unsigned long long)total, TAMIS_IMAGE_HEADER_BYTES);
    if (memcmp(h + AT_MAGIC, magic, sizeof magic) != 0)
        return tamis__fail(TAMIS_CORRUPT, "not a Tamis image: wrong magic bytes");
    if (tamis__get16(h + AT_VERSION) == 0) return corrupt("format version 0 is invalid");
    if (tamis__get16(h + AT_VERSION) > VERSION)
        return tamis__fail(TAMIS_TOO_NEW, "format version %d needs a newer Tamis than %s",
                           tamis__get16(h + AT_VERSION), tamis_version());
    if (!tamis__sums_match(tamis__get64(h + AT_HEADER_SUM),
                           tamis__checksum(h, AT_HEADER_SUM, NULL, 0)))
        return corrupt("the header's checksum is wrong");
    if (tamis__get32(h + AT_MUST_REFUSE))
        return tamis__fail(TAMIS_TOO_NEW, "features 0x%x need a newer Tamis than %s",
                           tamis__get32(h + AT_MUST_REFUSE), tamis_version());
    if (tamis__get64(h + AT_ZERO)) return corrupt("bytes 168 to 175 are not zero");
    return TAMIS_OK;
}

/* Hash mode, seed, secret: valid by themselves and for the kind, and the secret is given. */
static tamis_status read_hasher(tamis_image *image, const uint8_t *h, const uint8_t *secret) {
    static const uint8_t none[TAMIS_SECRET_BYTES];
    tamis_hasher *hasher = &image->hasher;
    const uint8_t mode = h[AT_HASH_MODE], place = h[AT_KEY_PLACE];
    if (mode >= TAMIS_HASH_MODES)
        return tamis__fail(TAMIS_TOO_NEW, "hash mode %d needs a newer Tamis than %s", mode,
                           tamis_version());
    if (place >= TAMIS_KEY_PLACES) return corrupt("the place of the key is unknown");
    hasher->mode = (tamis_hash_mode)mode;
    hasher->key_place = (tamis_key_place)place;
    hasher->seed = tamis__get64(h + AT_SEED);

    if ((mode == TAMIS_HASH_OWN) != tamis__hashes_itself(image->entry->kind))
        return corrupt("the hash mode does not match the kind");
    if ((mode == TAMIS_HASH_SIP13) != (place != TAMIS_KEY_NONE))
        return corrupt("the place of the key does not match the hash");
    if ((mode == TAMIS_HASH_SIP13 || mode == TAMIS_HASH_OWN) && hasher->seed)
        return corrupt("a seed where the hash has none");
    if (place != TAMIS_KEY_INSIDE && memcmp(h + AT_SECRET, none, sizeof none) != 0)
        return corrupt("a secret where there should be none");

    if (place == TAMIS_KEY_INSIDE) {
        memcpy(hasher->secret, h + AT_SECRET, sizeof hasher->secret);
    } else if (place == TAMIS_KEY_OUTSIDE) {
        if (!secret)
            return tamis__fail(TAMIS_SECRET, "the secret with key id %016llx is needed",
                               (unsigned long long)tamis__get64(h + AT_KEY_ID));
        memcpy(hasher->secret, secret, sizeof hasher->secret);
    }
    if (tamis__get64(h + AT_KEY_ID) != tamis__key_id(hasher)) {
        if (place != TAMIS_KEY_OUTSIDE) return corrupt("the key id does not match the key");
        return tamis__fail(TAMIS_SECRET, "the secret has key id %016llx, %016llx is needed",
                           (unsigned long long)tamis__key_id(hasher),
                           (unsigned long long)tamis__get64(h + AT_KEY_ID));
    }
    if (!tamis__sums_match(tamis__get64(h + AT_SELF_TEST), tamis__hash_self_test(hasher)))
        return corrupt("the hash that made this filter is not the one used here");
    return TAMIS_OK;
}

static tamis_status read_shape(tamis_image *image, const uint8_t *h, uint64_t total) {
    tamis_body *body = &image->body;
    const tamis_kind *kind = image->entry->kind;
    for (int i = 0; i < TAMIS_WORDS; i++) {
        body->word[i] = tamis__get64(h + AT_WORDS + 8 * i);
        if (!kind->word[i] && body->word[i]) return corrupt("an unused shape word is not zero");
    }
    uint64_t size;
    const tamis_status rc = kind->check(body->word, &size);
    /* A spec may ask for too much; an image that claims to have it is damaged. */
    if (rc == TAMIS_TOO_LARGE) return corrupt("a payload of more than 2^56 bytes");
    if (rc) return rc;

    const uint64_t payload = tamis__get64(h + AT_PAYLOAD_SIZE);
    const uint64_t notes = tamis__get64(h + AT_NOTES_SIZE);
    if (payload != size)
        return tamis__fail(TAMIS_CORRUPT,
                           "damaged: the shape needs %llu bytes of payload, the header says %llu",
                           (unsigned long long)size, (unsigned long long)payload);
    if (notes > TAMIS_NOTES_MAX_BYTES) return corrupt("notes of more than 1 MiB");
    if (total != TAMIS_IMAGE_HEADER_BYTES + payload + notes)
        return tamis__fail(TAMIS_CORRUPT, "damaged: %llu bytes where the header says %llu",
                           (unsigned long long)total,
                           (unsigned long long)(TAMIS_IMAGE_HEADER_BYTES + payload + notes));
    body->size = payload;
    image->notes_size = notes;
    return TAMIS_OK;
}

tamis_status tamis__image_read_header(tamis_image *image, const uint8_t *h, uint64_t total,
                                      const uint8_t *secret) {
    memset(image, 0, sizeof *image);
    tamis_status rc = check_start(h, total);
    if (rc) return rc;
    if (tamis__get32(h + AT_KIND) == 0) return corrupt("kind 0 is invalid");
    image->entry = tamis__kind_by_id(tamis__get32(h + AT_KIND));
    if (!image->entry) return tamis__kind_refuse(tamis__get32(h + AT_KIND));
    image->body.kind = image->entry->kind;
    image->capacity = tamis__get64(h + AT_CAPACITY);
    image->one_in = tamis__get64(h + AT_ONE_IN);
    image->body.items = tamis__get64(h + AT_ITEMS);
    image->has_stray_bits = tamis__get32(h + AT_MAY_IGNORE) & HAS_STRAY_BITS;
    if (image->capacity > TAMIS_MAX_CAPACITY) return corrupt("the capacity is over 2^56");
    if (image->one_in && image->one_in <= (uint64_t)MILLIONTHS)
        return corrupt("the target rate is not below 1");
    rc = read_shape(image, h, total);
    return rc ? rc : read_hasher(image, h, secret);
}

tamis_status tamis__image_check_notes(const tamis_image *image) {
    if (!tamis__notes_are_legal(image->notes, (size_t)image->notes_size))
        return corrupt("the notes are not pairs of text in order");
    return TAMIS_OK;
}

uint64_t tamis__image_total(const uint8_t *h) {
    return TAMIS_IMAGE_HEADER_BYTES + tamis__get64(h + AT_PAYLOAD_SIZE) +
           tamis__get64(h + AT_NOTES_SIZE);
}

uint64_t tamis__image_items(const uint8_t *h) {
    return tamis__get64(h + AT_ITEMS);
}

tamis_status tamis__image_check_content(const tamis_image *image, const uint8_t *h,
                                        uint64_t content_sum) {
    const tamis_body *body = &image->body;
    if (!tamis__sums_match(tamis__get64(h + AT_CONTENT_SUM), content_sum))
        return corrupt("the checksum of payload and notes is wrong");
    const tamis_status rc = tamis__image_check_notes(image);
    if (rc) return rc;
    return image->entry->kind->audit ? image->entry->kind->audit(body) : TAMIS_OK;
}

uint64_t tamis__image_content_sum(const tamis_image *image) {
    return tamis__checksum(image->body.bytes, (size_t)image->body.size, image->notes,
                           (size_t)image->notes_size);
}

void tamis__image_write_header(const tamis_image *image, uint64_t content_sum,
                               uint8_t h[TAMIS_IMAGE_HEADER_BYTES]) {
    const tamis_body *body = &image->body;
    const tamis_hasher *hasher = &image->hasher;
    memset(h, 0, TAMIS_IMAGE_HEADER_BYTES);
    memcpy(h + AT_MAGIC, magic, sizeof magic);
    tamis__put16(h + AT_VERSION, VERSION);
    h[AT_HASH_MODE] = (uint8_t)hasher->mode;
    h[AT_KEY_PLACE] = (uint8_t)hasher->key_place;
    tamis__put32(h + AT_KIND, image->entry->id);
    tamis__put32(h + AT_MAY_IGNORE, image->has_stray_bits ? HAS_STRAY_BITS : 0);
    tamis__put64(h + AT_SEED, hasher->seed);
    tamis__put64(h + AT_KEY_ID, tamis__key_id(hasher));
    if (hasher->key_place == TAMIS_KEY_INSIDE)
        memcpy(h + AT_SECRET, hasher->secret, sizeof hasher->secret);
    tamis__put64(h + AT_CAPACITY, image->capacity);
    tamis__put64(h + AT_ITEMS, body->items);
    tamis__put64(h + AT_ONE_IN, image->one_in);
    for (int i = 0; i < TAMIS_WORDS; i++) tamis__put64(h + AT_WORDS + 8 * i, body->word[i]);
    tamis__put64(h + AT_PAYLOAD_SIZE, body->size);
    tamis__put64(h + AT_NOTES_SIZE, image->notes_size);
    tamis__put64(h + AT_SELF_TEST, tamis__hash_self_test(hasher));
    tamis__put64(h + AT_CONTENT_SUM, content_sum);
    tamis__put64(h + AT_HEADER_SUM, tamis__checksum(h, AT_HEADER_SUM, NULL, 0));
}
