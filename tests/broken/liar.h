/* SPDX-License-Identifier: MIT */
/* The files of tests/broken may include this.
 *
 * A liar is a sound kind with one thing wrong, a thing that filter software got wrong before. Its
 * descriptor lists all that is sound, and then once more what is not; its contract names the law
 * that must catch it. */
#ifndef TAMIS_TESTS_LIAR_H
#define TAMIS_TESTS_LIAR_H

#if defined(__clang__)
#pragma clang diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

#endif
