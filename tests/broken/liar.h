/* SPDX-License-Identifier: MIT */
/* Only for tests/broken.
 *
 * A liar is a sound kind with one thing wrong, a mistake that filter software has made before. Its
 * descriptor lists all that is sound, then overrides what is not; its contract names the law that
 * must catch it. */
#ifndef TAMIS_TESTS_LIAR_H
#define TAMIS_TESTS_LIAR_H

#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

#endif
