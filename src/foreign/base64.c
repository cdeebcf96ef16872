/* SPDX-License-Identifier: MIT */
/* Base64: three bytes are four letters. */
#include "foreign/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char last_two[2][2] = {{'-', '_'}, {'+', '/'}};

static uint8_t letter_of(unsigned six, int alphabet) {
    return (uint8_t)(six < 62 ? letters[six] : last_two[alphabet][six - 62]);
}

static int six_of(uint8_t letter, int alphabet) {
    if (letter >= 'A' && letter <= 'Z') return letter - 'A';
    if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
    if (letter >= '0' && letter <= '9') return letter - '0' + 52;
    for (int i = 0; i < 2; i++)
        if (letter == last_two[alphabet][i]) return 62 + i;
    return -1;
}

bool tamis__base64_size(const uint8_t *text, uint64_t n, uint64_t *bytes) {
    *bytes = n / 4 * 3;
    if (n % 4) return false;
    for (int i = 1; i <= 2 && n; i++) *bytes -= text[n - (uint64_t)i] == '=';
    return true;
}

int tamis__base64_get(const uint8_t text[4], int alphabet, bool is_last, uint8_t bytes[3]) {
    uint32_t all = 0;
    int n = 4;
    while (is_last && n > 2 && text[n - 1] == '=') n--;
    for (int i = 0; i < 4; i++) {
        const int six = i < n ? six_of(text[i], alphabet) : 0;
        if (six < 0) return 0;
        all = all << 6 | (uint32_t)six;
    }
    for (int i = 0; i < 3; i++) bytes[i] = (uint8_t)(all >> (16 - 8 * i));
    for (int i = n - 1; i < 3; i++)
        if (bytes[i]) return 0;
    return n - 1;
}

void tamis__base64_put(const uint8_t *bytes, size_t n, int alphabet, uint8_t text[4]) {
    uint32_t all = 0;
    for (size_t i = 0; i < 3; i++) all = all << 8 | (i < n ? bytes[i] : 0u);
    for (size_t i = 0; i < 4; i++)
        text[i] = i <= n ? letter_of(all >> (18 - 6 * i) & 63, alphabet) : (uint8_t)'=';
}
