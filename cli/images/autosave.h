/* SPDX-License-Identifier: MIT */
/* autosave.h: only the files in cli/ include this. Changes that take long are saved on the way. */
#ifndef TAMIS_CLI_IMAGES_AUTOSAVE_H
#define TAMIS_CLI_IMAGES_AUTOSAVE_H

#include "cli/images/images.h"

/* Keys that come through a pipe may come for days. What was done with them is saved now and then,
 * as --save-every says, and when a signal ends the command: then the batch in hand is finished
 * first. Where all keys lie in files it is all or nothing. */
struct keeping {
    const struct args *args;
    struct image *image;     /* that is changed; NULL when it is no image */
    int (*save)(void *with); /* what saves it, when it is not just the filter of the image */
    void *with;
    uint64_t every_ms, every_lines; /* 0: not by this */
    bool is_usual;                  /* no interval was given */
    bool is_on;
    uint64_t lines; /* since the last save */
    uint64_t due;   /* in ms */
    int code;       /* of a save while the input was waited for */
};

/* From --save-every, and from where the keys come. From here on signals only ask for a stop. */
int keeping_start(struct keeping *keeping, struct keys *keys);

/* For the handler of the keys: after a batch of `lines` lines. */
int keeping_after(void *keeping, uint64_t lines);

/* An image and the keys that change it, saved on the way. */
struct changing {
    struct image image;
    struct keys keys;
    struct keeping keeping;
};

/* Opens both; the image needs the ability, and gets the notes of the command. changing_close is due
 * in any case. */
int changing_open(struct changing *changing, const struct args *args, enum tamis_ability ability,
                  const char *to_do);
int changing_run(struct changing *changing, int (*take)(void *with, struct batch *batch),
                 void *with);
void changing_close(struct changing *changing);

#endif
