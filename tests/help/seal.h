/* Tests that forge images may include this. */
#ifndef TAMIS_TESTS_HELP_SEAL_H
#define TAMIS_TESTS_HELP_SEAL_H

#include <stddef.h>
#include <stdint.h>

enum { TEST_HEADER_BYTES = 192 };

/* Makes both checksums of an image fit its bytes again, as somebody would who forges one. Needs a
 * whole header and nothing else to be right. */
void test_reseal(uint8_t *image, size_t size);

#endif
