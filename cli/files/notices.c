/* SPDX-License-Identifier: MIT */
/* notices.c: the system says when files change, by inotify.
 *
 * The folder says when a file appears, is replaced or goes. The file itself is watched too, because
 * what a symbolic link leads to may grow in another folder. */
#include "cli/files/notices.h"

#include <string.h>
#include <unistd.h>

#if defined __linux__
#include <limits.h>
#include <stdio.h>
#include <sys/inotify.h>

int notices_open(void) {
    return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

void notices_about(int notices, const char *path) {
    const unsigned of_folder = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB;
    const unsigned of_file = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE_SELF | IN_DELETE_SELF;
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const int len = slash ? (int)(slash - path) : 0;
    if (notices < 0) return;
    if (!slash)
        snprintf(folder, sizeof folder, ".");
    else
        snprintf(folder, sizeof folder, "%.*s", len > 0 ? len : 1, path);
    /* What cannot be watched is looked at now and then. */
    (void)inotify_add_watch(notices, folder, of_folder | IN_ONLYDIR);
    (void)inotify_add_watch(notices, path, of_file);
}

void notices_clear(int notices) {
    char events[4096];
    while (notices >= 0 && read(notices, events, sizeof events) > 0) {
    }
}

#else

int notices_open(void) {
    return -1;
}

void notices_about(int notices, const char *path) {
    (void)notices, (void)path;
}

void notices_clear(int notices) {
    (void)notices;
}

#endif
