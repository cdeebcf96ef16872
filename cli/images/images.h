/* SPDX-License-Identifier: MIT */
/* images.h: only the files in cli/ include this. Images: opened, specified, built, written. */
#ifndef TAMIS_CLI_IMAGES_IMAGES_H
#define TAMIS_CLI_IMAGES_IMAGES_H

#include <string.h>

#include "cli/files/files.h"
#include "cli/images/held.h"
#include "cli/keys/keys.h"
#include "cli/output/words.h"

/* ==== Images: images.c, note_option.c ========================================================= */

struct image {
    const char *path;
    tamis *filter;
    void *bytes;       /* when the filter is a view of what came through a pipe */
    struct held *held; /* or of a large file */
    tamis_edit *edit;  /* of what is changed in place: held until image_close; or NULL */
};

enum image_mode { TO_ASK, TO_CHANGE };

/* Opens the image at `path`, `-` for standard input. image_close is due also after a failure. */
int image_open(struct image *image, const struct args *args, const char *path,
               enum image_mode mode);
void image_close(struct image *image);

/* The same for an image of ours also where --from names the format of others. */
int image_open_own(struct image *image, const struct args *args, const char *path,
                   enum image_mode mode);

/* Whether a regular file is an image, by its first bytes. */
bool file_is_image(const char *path);

/* The same for callers that want the library's message: reports only what kept it from being
 * asked. */
int image_try(struct image *image, const struct args *args, const char *path, enum image_mode mode,
              tamis_status *status);

/* The same for verbs that change IMAGE, their first operand: says first whether the result may be
 * written to where image_target says: to --output, or to IMAGE itself, which is then held against
 * all others until image_close. image_hold is the first half, for verbs that read it otherwise. */
int image_open_to_change(struct image *image, const struct args *args);
int image_hold(struct image *image, const struct args *args);
const char *image_target(const struct args *args);

/* The same for an image of any path that is changed in place. Where it may be made, `filter` is
 * NULL when there is none yet. */
int image_open_held(struct image *image, const struct args *args, const char *path,
                    enum hold_for what);

/* Holds --output from now on, for those who save on the way. */
int image_hold_output(struct image *image, const struct args *args);

/* Writes what one of these opened to where it came from, or to where image_target says. */
int image_save(const struct args *args, struct image *image);

/* Who may read what holds the bytes of this filter. */
enum tamis_readers readers_of(const tamis *filter);

/* Says, before any work is done, whether an image may be written to `path`. */
int image_may_write(const struct args *args, const char *path);

/* Writes the image to `path`, whole or not at all; `-` for standard output. */
int image_write(const struct args *args, const tamis *filter, const char *path);

/* What every making and loading call gets. */
struct tamis_options image_options(const struct args *args);

/* Of --threads, or one for each processor. */
unsigned threads_wanted(const struct args *args);

/* Of --memory, or a quarter of the machine's, for verbs that only read. */
uint64_t memory_wanted(const struct args *args);

/* After a build and a resize the rate that is planned counts, after other changes the one that
 * came out. */
enum occasion { AFTER_PLANNING, AFTER_CHANGE, AFTER_FOLD };

/* The line on stderr after an image was written, and a warning when the filter is too full. */
void image_summary(const struct args *args, const tamis *filter, const char *path, const char *what,
                   enum occasion occasion);
void info_summary(const struct args *args, const struct tamis_info *info, const char *path,
                  const char *what, enum occasion occasion);

/* How many keys an image of a kind that is built once was made from, without known-good ones. */
uint64_t keys_built(const struct tamis_info *info);

/* By the keys that were planned for, or by those inside where a filter has grown or was built once;
 * NaN for none. */
double bits_per_key(const struct tamis_info *info);

/* Whether more keys are inside than were planned for. */
bool has_too_many(const struct tamis_info *info);

/* Sets every --note, of a filter or of a builder; of the latter also the form of its keys. In
 * note_option.c. */
int set_notes(const struct args *args, tamis *filter);
int set_builder_notes(const struct args *args, tamis_builder *builder);

/* Reads a secret of `size` bytes from a file: as they are, or as hex digits and a line end. Reports
 * "not WANTED" about anything else. In secret.c. */
enum { MAX_SECRET_BYTES = 32 };
int secret_from_file(const struct args *args, const char *path, uint8_t *secret, size_t size,
                     const char *wanted);

/* ==== The form of keys: key_form.c ============================================================ */

/* Of --keys, its short forms --hex and --base64, and --canon. */
int form_given(const struct args *args, struct form *form);

/* What the notes of a filter say. False when they name what we do not know. */
bool form_of(const tamis *filter, struct form *form);

/* Whether notes say what its steps are: then it was made by this command. */
bool form_is_noted(const tamis *filter);

/* Refuses an image whose keys have another form than the user says; image_open does it for verbs
 * that read keys. */
int form_is_that_of(const struct args *args, const char *path, const tamis *filter);

/* Refuses what would be built now in the place of an image whose keys have another form: nobody who
 * asks it would notice. */
int form_stays(const struct args *args, const char *path, const tamis *filter);

/* Whether two images are sets of the same things, for those that combine them. */
int form_is_shared(const struct args *args, const struct image *a, const struct image *b);

/* Whether a note is about the form; --note may not say what options say better. */
bool form_has_note(const char *name);
bool form_takes_note(const char *name, const char *value);

/* A note of a filter, or of the one that is built where that is not NULL. */
tamis_status set_note(tamis *filter, tamis_builder *builder, const char *name, const char *value);

/* ---- Questions that ask for several keys: questions.c ---- */

/* How many keys a question asks for at most, and its rate, that of a key being `fpr`. */
struct questions {
    bool has_several;
    unsigned keys;
    double fpr;
};
struct questions questions_of(const tamis *filter, double fpr);

/* A line about that on stderr, where there are several. */
void tell_questions(const struct args *args, const tamis *filter, const char *path, double fpr);

/* Leaves a share of the requested rate to each key, where the form given is such a one. What goes
 * wrong is reported and leaves NULL. */
void spec_share_rate(const struct args *args, char **spec);

/* Remembers the form in a filter, or in the one that is built. */
int form_record(const struct args *args, tamis *filter, tamis_builder *builder);

/* What to say after "full" where every add needs room. In add.c. */
extern const char stores_every_add[];

/* ==== Abilities: abilities.c ================================================================ */

struct ability {
    enum tamis_ability bit;
    const char *word;
    const char *meaning;
};

/* What a kind can do comes first, then what it is like, the important before the rest. */
extern const struct ability abilities[];
extern const size_t number_of_abilities;

/* Whether it is the kind of another system; and whether it is a part of a filter of another kind,
 * which is what one plans and chooses. */
bool is_foreign(const struct tamis_kind_info *kind);
bool is_part(const struct tamis_kind_info *kind);

/* tamis_get_info and tamis_measure, for where they are declared. */
struct tamis_info info_of(const tamis *filter);
struct tamis_info info_measured(const tamis *filter);

/* A word of a shape by its name, as plans and infos have them; 0 when there is none. */
static inline uint64_t shape_word(const char *const name[], const uint64_t word[],
                                  const char *wanted) {
    for (size_t i = 0; i < TAMIS_WORDS; i++)
        if (name[i] && strcmp(name[i], wanted) == 0) return word[i];
    return 0;
}

/* "shape": {"bits": 1024, ...} */
void write_shape(struct json *json, const char *const name[], const uint64_t word[]);

/* "notes": {"source": "feed-a", ...} */
void write_notes(struct json *json, const tamis *filter);

/* "abilities": ["add", ...] */
void write_abilities(struct json *json, unsigned has);

/* An option of a kind or a format, for people and for programs. `otherwise` stands for a value that
 * is neither a choice nor a number. */
void print_spec_option(const struct tamis_option *option, const char *otherwise);
void write_spec_option(struct json *json, const struct tamis_option *option, bool has_range);

/* Refuses an image without this ability, with the kinds that have it; `to_do` follows "cannot". */
int image_needs(const struct args *args, const struct image *image, enum tamis_ability ability,
                const char *to_do);

/* Refuses an image of a kind that knows sets and not keys. */
int image_knows_keys(const struct args *args, const struct image *image);

/* The same for a kind that an image is to be made of. */
int kind_needs(const struct args *args, const struct tamis_kind_info *kind,
               enum tamis_ability ability, const char *to_do);

/* ==== Wishes: spec_args.c ===================================================================== */

/* The kind that a spec names, "" when it names none, and its first option. */
struct tamis_spec_option spec_head(const char *spec);

/* Whether a spec has an option of this name, and whether with this value. */
bool spec_has(const char *spec, const char *name);
bool spec_says(const char *spec, const char *name, const char *value);

/* Whether it gives a size, in bytes or bits; and whether it gives the capacity, which a size and a
 * rate together do too. */
bool spec_has_size(const char *spec);
bool spec_fixes_capacity(const char *spec);

/* The spec of a filter, on the heap; NULL when memory is out. */
char *spec_of(const tamis *filter);

/* A spec on the heap, and changes to one: with NULL for `name`, of its kind. What goes wrong is
 * reported and leaves NULL, which further changes leave as it is. */
char *spec_copy(const struct args *args, const char *spec);
void spec_set(const struct args *args, char **spec, const char *name, const char *value);
char *spec_without(const struct args *args, const char *spec,
                   const char *names); /* between spaces: options that are left out */
void spec_set_capacity(const struct args *args, char **spec, uint64_t capacity);

/* The options --capacity, --fpr, ... as a spec of this kind (NULL: none named), on the heap; NULL,
 * reported, when memory is out. */
char *spec_from_args(const struct args *args, const char *kind);

/* The same, or what --spec says; `usual_kind` stands for --kind where that is not given. */
char *spec_given(const struct args *args, const char *usual_kind);

/* Refuses a whole spec beside options that say parts of it. `spec_is` names the former. */
int params_is_single(const struct args *args, const char *spec_is);

/* Refuses a kind that does not exist, with the nearest that does. */
int kind_exists(const struct args *args, const char *name, struct tamis_kind_info *kind);

/* ==== Building: build_image.c, conflict.c ===================================================== */

struct building {
    const struct args *args;
    tamis_builder *builder;
    struct keys *keys;
    unsigned abilities;      /* of the kind */
    const char *usual_label; /* of keys whose source has none; NULL for kinds without labels */
    const char *label;       /* the one set last, or NULL */
    uint64_t lines;          /* of keys so far */
    uint64_t good;           /* of known-good keys */
    int (*also)(void *with, struct batch *batch); /* what else is done with each batch, or NULL */
    void *also_with;
    struct keeping *keeping; /* saves on the way, with other builders; or NULL ... */
    const tamis *hasher;     /* ... then this hashes the keys for all of them */
};

/* From --memory, --temp-dir, --threads, --verify and the secret. Returns 0 or EXIT_TROUBLE. The
 * options point to `filter`. */
int builder_options(const struct args *args, struct tamis_builder_options *options,
                    struct tamis_options *filter);

/* Hands every key to the builder. */
int builder_take(struct building *building);

/* Makes the image in what `edit` holds, or in memory where that is NULL. Where it is saved on the
 * way, a signal does not stop it. */
int builder_make(struct building *building, tamis_edit *edit, tamis **filter);

/* Makes the image and writes it to `path`, whole or not at all; to what `edit` holds, unless that
 * is NULL. Unless --quiet, `image` is opened to ask, for a summary. image_close is due in any
 * case. */
int builder_write(struct building *building, const char *path, tamis_edit *edit,
                  struct image *image);

/* How many different keys there are, by hashes of their own. The lines go to `copy`, which is open,
 * unless that is NULL. In distinct.c. */
int count_distinct(struct keys *keys, struct spill *copy, uint64_t *distinct);

/* Sorts hashes and drops those that repeat; *n is how many are left. `pause`, unless NULL, is
 * called now and then while that takes long; anything but 0 from it ends that. In distinct.c. */
struct pause {
    int (*call)(void *with);
    void *with;
};
int sort_distinct(uint64_t *hash, size_t *n, const struct pause *pause);

/* The keys come from that copy from now on. */
int keys_keep(struct keys *keys, struct spill *copy);

/* Reports the key that has two values, and where it stands. */
int fail_conflict(struct building *building);

#endif
