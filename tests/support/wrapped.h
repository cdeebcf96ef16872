/* SPDX-License-Identifier: MIT */
/* Help for tests may include this: the names of system calls that the linker brings to a test
 * (--wrap).
 *
 * With 64-bit offsets the C library has other names for what takes or tells one. */
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
