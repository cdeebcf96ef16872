/* keygen.c: `tamis keygen`, keys to sign patches with. */
#include "cli/cli.h"

static int run(const struct args *args) {
    const char *path = args->operand[0];
    if (is_dash(path)) return fail(args, NULL, "keys are two files: name the secret one");
    const int code = seal_make_keys(args, path);
    if (!code && !given(args, OPT_QUIET))
        fprintf(stderr, "%s: the secret key, to sign with; %s.pub: the public one, to give away\n",
                path, path);
    return code;
}

/* Tables are set by hand. */
/* clang-format off */

const struct verb verb_keygen = {
    .name = "keygen",
    .also = "genkey keys key",
    .summary = "make a pair of keys, to sign patches and verify them",
    .run = run,
    .operands = OPERANDS({"FILE", EXACTLY_ONE, NO_STREAM}),
    .uses = USES({.option = OPT_FORCE, .help = "replace keys that exist: what they signed can "
                                               "then be verified only with the old public key"},
                 {.option = OPT_WAIT}),
    .examples = EXAMPLES({"Keys for releases", "tamis keygen release.key"},
                         {"Sign a patch",
                          "tamis diff old.tamis new.tamis -o a.patch --sign release.key"},
                         {"Verify it", "tamis apply old.tamis a.patch --verify release.key.pub"}),
    .about = "FILE gets the secret key, readable by its owner only, and FILE.pub the public one, "
             "for everybody who applies patches. Both are text: a line that says what it is, and "
             "64 hex digits. Signatures are Ed25519, made and checked by libsodium.\n\n"
             "These keys have nothing to do with the keys in a filter, nor with --secret-file.",
};
