/* measure.c: how long a command takes, and its peak memory.
 *
 *     measure ROUNDS COMMAND      by sh -c; prints the least seconds, and the peak in KiB
 *
 * The least of several rounds is what the command takes when nothing else is in its way. The peak is
 * that of the largest process of a pipeline.
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

/* Seconds, or a negative number when the command ended in trouble. */
static double run(const char *command) {
    const double start = now();
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0) return -1;
    /* 1 is "nothing matched" with the tools that are measured. */
    return WIFEXITED(status) && WEXITSTATUS(status) <= 1 ? now() - start : -1;
}

int main(int argc, char **argv) {
    const int rounds = argc == 3 ? atoi(argv[1]) : 0;
    double least = -1;
    if (rounds <= 0) {
        fputs("usage: measure ROUNDS COMMAND\n", stderr);
        return 2;
    }
    for (int i = 0; i < rounds; i++) {
        const double seconds = run(argv[2]);
        if (seconds < 0) return 2;
        if (least < 0 || seconds < least) least = seconds;
    }
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    printf("%.3f %ld\n", least, usage.ru_maxrss);
    return 0;
}
