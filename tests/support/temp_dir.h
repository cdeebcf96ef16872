/* SPDX-License-Identifier: MIT */
/* For every test: a directory of its own. */
#ifndef TAMIS_TESTS_SUPPORT_TEMP_DIR_H
#define TAMIS_TESTS_SUPPORT_TEMP_DIR_H

#include <stdbool.h>

enum { TEST_FOLDER_BYTES = 64 };

/* Makes an empty directory, in memory where possible, for tests that flush many images to disk. */
bool test_enter_dir(char dir[TEST_FOLDER_BYTES]);

/* Removes it with its contents; 0, or the exit status of rm. */
int test_leave_dir(const char *dir);

/* The number of files in it that are not hidden. */
int test_files_in(const char *dir);

#endif
