#include "tests/support/temp_dir.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool test_enter_folder(char folder[TEST_FOLDER_BYTES]) {
    const bool is_fast = access("/dev/shm", W_OK) == 0;
    strcpy(folder, is_fast ? "/dev/shm/tamis-test-XXXXXX" : "/tmp/tamis-test-XXXXXX");
    return mkdtemp(folder) != NULL;
}

int test_leave_folder(const char *folder) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int test_files_in(const char *folder) {
    int count = 0;
    DIR *dir = opendir(folder);
    if (!dir) abort();
    for (struct dirent *entry; (entry = readdir(dir));) count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}
