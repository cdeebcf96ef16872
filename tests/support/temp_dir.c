/* SPDX-License-Identifier: MIT */
#include "tests/support/temp_dir.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool test_enter_dir(char dir_path[TEST_FOLDER_BYTES]) {
    const bool is_fast = access("/dev/shm", W_OK) == 0;
    strcpy(dir_path, is_fast ? "/dev/shm/tamis-test-XXXXXX" : "/tmp/tamis-test-XXXXXX");
    return mkdtemp(dir_path) != NULL;
}

int test_leave_dir(const char *dir_path) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir_path);
    return system(command);
}

int test_files_in(const char *dir_path) {
    int count = 0;
    DIR *dir = opendir(dir_path);
    if (!dir) abort();
    for (struct dirent *entry; (entry = readdir(dir));) count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}
