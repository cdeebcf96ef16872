/* SPDX-License-Identifier: MIT */
/* For test support: the names of system calls that the linker redirects to a test (--wrap).
 *
 * With 64-bit offsets the C library has other names for calls that take or return one. */
#ifndef TAMIS_TESTS_SUPPORT_WRAPPED_H
#define TAMIS_TESTS_SUPPORT_WRAPPED_H

#ifdef __GLIBC__
#define REAL(name)    __real_##name##64
#define WRAPPED(name) __wrap_##name##64
#else
#define REAL(name)    __real_##name
#define WRAPPED(name) __wrap_##name
#endif

#endif
