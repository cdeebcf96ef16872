/* SPDX-License-Identifier: MIT */
/* keygen.c: `tamis keygen`, keys to sign patches with. */
#include "cli/cli.h"

static int run(const struct args *args) {
    const char *path = args->operand[0];
    if (is_dash(path))
        return fail(args, NULL, "the keys are two files; name the secret one, not -");
    const int code = seal_make_keys(args, path);
    if (!code && !given(args, OPT_QUIET))
        fprintf(stderr, "%s: secret key, for signing; %s.pub: public key, for distribution\n", path,
                path);
    return code;
}

/* clang-format off */

const struct verb verb_keygen = {
    .name = "keygen",
    .also = "genkey keys key",
    .summary = "make a key pair for signing and verifying patches",
    .run = run,
    .operands = OPERANDS({"FILE", EXACTLY_ONE, NO_STREAM}),
    .uses = USES({.option = OPT_FORCE, .help = "replace existing keys; what they signed can then "
                                               "be verified only with the old public key"},
                 {.option = OPT_WAIT}),
    .examples = EXAMPLES({"Make keys for releases", "tamis keygen release.key"},
                         {"Sign a patch",
                          "tamis diff old.tamis new.tamis -o a.patch --sign release.key"},
                         {"Verify it", "tamis apply old.tamis a.patch --verify release.key.pub"}),
    .about = "Writes the secret key to FILE, readable only by its owner, and the public key to "
             "FILE.pub, for everyone who applies patches. Both are text: a line that says what it "
             "is, and 64 hex digits. Signatures are Ed25519, made and verified by libsodium.\n\n"
             "Signing keys are unrelated to the keys in a filter, and to --secret-file.",
};
