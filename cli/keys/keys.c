/* keys.c: where keys come from. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/keys/block.h"

int keys_open_sources(struct keys *keys, const struct args *args, struct source *sources,
                      size_t n) {
    *keys = (struct keys){
        .args = args,
        .cutting = {.line_end = given(args, OPT_NULL) ? '\0' : '\n',
                    .has_crlf = given(args, OPT_CRLF),
                    .has_values = given(args, OPT_VALUES)},
        .source = sources,
        .source_count = n,
        .threads = given(args, OPT_THREADS) ? threads_wanted(args) : 1,
        .numbers_lines = given(args, OPT_LINE_NUMBER),
        .carry = malloc(BLOCK_BYTES),
    };
    if (!keys->source || !keys->carry) return fail_memory(args);
    for (size_t i = 0; i < n; i++)
        sources[i].start = strcmp(sources[i].name, "-") == 0 ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    return 0;
}

int keys_open(struct keys *keys, const struct args *args, size_t skip) {
    const size_t named = args->operand_count > skip ? args->operand_count - skip : 0;
    const size_t n = named ? named : 1;
    struct source *sources = calloc(n, sizeof *sources);
    for (size_t i = 0; sources && i < n; i++)
        sources[i].name = named ? args->operand[skip + i] : "-";
    return keys_open_sources(keys, args, sources, n);
}

void keys_close(struct keys *keys) {
    input_close(keys->input);
    for (size_t i = 0; keys->source && i < keys->source_count; i++) free(keys->source[i].label);
    free(keys->source);
    free(keys->carry);
}

uint64_t keys_bytes(const struct keys *keys) {
    uint64_t sum = 0, size;
    for (size_t i = 0; i < keys->source_count; i++) {
        if (!input_size(&keys->source[i], &size)) return 0;
        sum += size;
    }
    return sum;
}

void keys_hash_by(struct keys *keys, const tamis *filter) {
    keys->filter = filter;
}

void keys_hash_for(struct keys *keys, const tamis_builder *builder) {
    keys->builder = builder;
}

void keys_again(struct keys *keys) {
    size_t kept = 0;
    input_close(keys->input);
    keys->input = NULL;
    for (size_t i = 0; i < keys->source_count; i++) {
        if (input_can_again(&keys->source[i]))
            keys->source[kept++] = keys->source[i];
        else
            free(keys->source[i].label);
    }
    keys->source_count = kept;
    keys->next_source = 0;
    keys->bytes = 0;
}
