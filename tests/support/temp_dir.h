/* SPDX-License-Identifier: MIT */
/* Every test may include this: a folder of its own. */
#ifndef TAMIS_TESTS_SUPPORT_TEMP_DIR_H
#define TAMIS_TESTS_SUPPORT_TEMP_DIR_H

#include <stdbool.h>

enum { TEST_FOLDER_BYTES = 64 };

/* Makes an empty folder: in memory where there is such a place, for tests that flush many images to
 * disk. */
bool test_enter_dir(char dir[TEST_FOLDER_BYTES]);

/* Removes it with all that is in it; 0, or what rm says. */
int test_leave_dir(const char *dir);

/* How many files are in it that are not hidden. */
int test_files_in(const char *dir);

#endif
