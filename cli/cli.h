/* SPDX-License-Identifier: MIT */
/* cli.h: only the files in cli/ include this. The parts of the command, all together.
 *
 *     argv --options.c--> struct args --verbs/NAME.c--> images.c, keys.c --> tamis.h
 *                             ^                             |
 *              verbs.def, options.def (data)            human.c, json.c --> stdout
 *
 * A verb is a function that gets its parsed arguments and returns an exit status. The only door to
 * the library is tamis.h.
 */
#ifndef TAMIS_CLI_H
#define TAMIS_CLI_H

#include "cli/args/args.h"
#include "cli/files/files.h"
#include "cli/files/signals.h"
#include "cli/images/images.h"
#include "cli/images/seal.h"
#include "cli/keys/keys.h"
#include "cli/output/words.h"

#endif
