/* SPDX-License-Identifier: MIT */
/* context.c: the lines around those that are printed, as grep has them.
 *
 * Lines after one that was printed are counted down. Lines before one lie in its batch, or were
 * kept from the batches before: at the end of each batch, as many of its last lines as may be due,
 * made up as they would be printed. So memory is for --before-context lines, and only the last
 * lines of a batch are ever copied. Everything here happens in the order of the input. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/keys/block.h"

void context_open(struct context *context, const struct args *args) {
    const uint64_t both = number_or(args, OPT_CONTEXT, 0);
    context->before = number_or(args, OPT_BEFORE_CONTEXT, both);
    context->after = number_or(args, OPT_AFTER_CONTEXT, both);
    context->is_wanted =
        FIRST_GIVEN(args, OPT_CONTEXT, OPT_BEFORE_CONTEXT, OPT_AFTER_CONTEXT) != NULL;
}

void context_close(struct context *context) {
    text_free(&context->kept);
    free(context->len);
}

static void forget(struct context *context) {
    text_drop(&context->kept);
    context->dropped = context->kept_first = context->kept_count = 0;
}

void context_end_file(struct context *context) {
    forget(context);
    context->next = context->left = 0;
}

/* ---- Printing ---- */

static void print_around(struct batch *batch, size_t i) {
    print_context_place(batch, i);
    print_line(batch, i);
}

/* The last `n` of the lines that were kept. */
static void print_kept(const struct context *context, struct batch *batch, uint64_t n) {
    size_t len = 0;
    for (uint64_t j = 1; j <= n; j++)
        len += context->len[context->kept_first + context->kept_count - j];
    text_copy(&batch->out, context->kept.bytes + context->kept.len - len, len);
}

void context_before(struct context *context, struct batch *batch, size_t i) {
    if (!context->is_wanted) return;
    const uint64_t number = batch->first_line + i;
    uint64_t from = number > context->before ? number - context->before : 1;
    if (from < context->next) from = context->next;
    if (context->has_printed && from != context->next) print_gap(batch);
    if (from < batch->first_line) {
        print_kept(context, batch, batch->first_line - from);
        from = batch->first_line;
    }
    for (; from < number; from++) print_around(batch, (size_t)(from - batch->first_line));
}

void context_printed(struct context *context, const struct batch *batch, size_t i) {
    if (!context->is_wanted) return;
    context->next = batch->first_line + i + 1;
    context->left = context->after;
    context->has_printed = true;
}

void context_after(struct context *context, struct batch *batch, size_t i) {
    if (context->left == 0) return;
    context->left--;
    context->next = batch->first_line + i + 1;
    print_around(batch, i);
}

/* ---- Keeping ---- */

/* What is no longer due stays until it is half of all. */
static void drop_oldest(struct context *context) {
    struct text *kept = &context->kept;
    context->dropped += context->len[context->kept_first++];
    context->kept_count--;
    if (context->dropped <= kept->len / 2 && context->kept_first <= context->kept_count) return;
    memmove(kept->bytes, kept->bytes + context->dropped, kept->len - context->dropped);
    memmove(context->len, context->len + context->kept_first,
            context->kept_count * sizeof *context->len);
    kept->len -= context->dropped;
    context->dropped = context->kept_first = 0;
}

static bool keep_line(struct context *context, struct batch *batch, size_t i) {
    const size_t n = context->kept_first + context->kept_count;
    if (!list_grow(&context->len, &context->len_room, n + 1, sizeof *context->len)) return false;
    const struct text out = batch->out;
    const size_t before = context->kept.len;
    batch->out = context->kept;
    print_around(batch, i);
    context->kept = batch->out;
    batch->out = out;
    context->len[n] = context->kept.len - before;
    context->kept_count++;
    return !context->kept.is_short_of_memory;
}

int context_keep(struct context *context, struct batch *batch) {
    if (context->before == 0) return 0;
    size_t i = 0;
    if (context->next > batch->first_line) {
        forget(context);
        i = (size_t)(context->next - batch->first_line);
    }
    if (batch->n - i > context->before) i = batch->n - (size_t)context->before;
    for (; i < batch->n; i++) {
        if (batch->line[i].len > LONG_KEY)
            return fail_line(batch, i, "a line of %s is too long for --%s (maximum: %s)",
                             human_bytes(batch->line[i].len).text,
                             option_named(OPT_BEFORE_CONTEXT)->name, human_bytes(LONG_KEY).text);
        if (context->kept_count == context->before) drop_oldest(context);
        if (!keep_line(context, batch, i)) return fail_memory(batch->keys->args);
    }
    return 0;
}
