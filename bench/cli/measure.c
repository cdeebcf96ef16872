/* SPDX-License-Identifier: MIT */
/* measure.c: how long a command takes, and its peak memory.
 *
 *     measure ROUNDS COMMAND      by sh -c; prints seconds, processor seconds and the peak in KiB
 *
 * The minimum over several rounds is what the command takes undisturbed; on a busy machine the
 * processor time is the better figure. The peak is that of the largest process of a pipeline.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Seconds, or a negative number when the command failed. */
static double run(const char *command) {
    const double start = now();
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0) return -1;
    /* The measured tools exit with 1 when nothing matched. */
    return WIFEXITED(status) && WEXITSTATUS(status) <= 1 ? now() - start : -1;
}

static double seconds_of(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv) {
    const int rounds = argc == 3 ? atoi(argv[1]) : 0;
    double min = -1, min_busy = -1, busy_before = 0;
    struct rusage usage = {0};
    if (rounds <= 0) {
        fputs("usage: measure ROUNDS COMMAND\n", stderr);
        return 2;
    }
    for (int i = 0; i < rounds; i++) {
        const double seconds = run(argv[2]);
        if (seconds < 0) return 2;
        getrusage(RUSAGE_CHILDREN, &usage);
        const double busy = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
        if (min < 0 || seconds < min) min = seconds;
        if (min_busy < 0 || busy - busy_before < min_busy) min_busy = busy - busy_before;
        busy_before = busy;
    }
    printf("%.3f %.3f %ld\n", min, min_busy, usage.ru_maxrss);
    return 0;
}
