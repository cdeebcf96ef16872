/* SPDX-License-Identifier: MIT */
/* For one file of a test program: bytes that change between any two reads.
 *
 *     read 1, 2, ... n-1 sees the first version, read n and all later ones the second
 *
 * The bytes are on protected pages. Every instruction that touches them is caught, counted and
 * single-stepped (with the trap flag), and the pages are protected again. */
#ifndef TAMIS_TESTS_SUPPORT_CHANGING_H
#define TAMIS_TESTS_SUPPORT_CHANGING_H

#if defined __linux__ && defined __x86_64__
#define TEST_HAS_CHANGING 1

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static struct {
    uint8_t *pages;
    size_t mapped;
    uint8_t *at; /* the bytes; they end at the end of the pages */
    size_t size;
    const uint8_t *second;
    uint64_t looks, change_at; /* 0: never */
    bool is_closed;
} changing;

enum { CHANGING_TRAP = 0x100, CHANGING_FLAGS = 17 }; /* EFLAGS is REG_EFL, 17 */

static void changing_look(int signal, siginfo_t *info, void *context) {
    ucontext_t *ours = context;
    const uint8_t *where = info->si_addr;
    if (!changing.is_closed || where < changing.pages ||
        where >= changing.pages + changing.mapped) {
        struct sigaction usual = {.sa_handler = SIG_DFL}; /* a fault of the library */
        sigaction(signal, &usual, NULL);
        return;
    }
    mprotect(changing.pages, changing.mapped, PROT_READ | PROT_WRITE);
    if (++changing.looks == changing.change_at) memcpy(changing.at, changing.second, changing.size);
    ours->uc_mcontext.gregs[CHANGING_FLAGS] |= CHANGING_TRAP;
}

static void changing_step(int signal, siginfo_t *info, void *context) {
    ucontext_t *ours = context;
    (void)signal, (void)info;
    ours->uc_mcontext.gregs[CHANGING_FLAGS] &= ~CHANGING_TRAP;
    if (changing.is_closed) mprotect(changing.pages, changing.mapped, PROT_NONE);
}

/* Bytes of two versions of one size, on protected pages until changing_end. */
static const void *changing_begin(const void *first, const void *second, size_t size,
                                  uint64_t change_at) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped = (size / page + 1) * page;
    struct sigaction look = {.sa_sigaction = changing_look, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction step = {.sa_sigaction = changing_step, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &look, NULL);
    sigaction(SIGTRAP, &step, NULL);
    if (changing.mapped != mapped) {
        if (changing.mapped) munmap(changing.pages, changing.mapped);
        changing.pages =
            mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        changing.mapped = mapped;
    }
    changing.at = changing.pages + mapped - size;
    changing.size = size;
    changing.second = second;
    changing.looks = 0;
    changing.change_at = change_at;
    if (size) memcpy(changing.at, first, size);
    changing.is_closed = true;
    mprotect(changing.pages, mapped, PROT_NONE);
    return changing.at;
}

/* How often they were read. */
static uint64_t changing_end(void) {
    mprotect(changing.pages, changing.mapped, PROT_READ | PROT_WRITE);
    changing.is_closed = false;
    return changing.looks;
}

#endif
#endif
