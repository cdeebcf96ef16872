# SPDX-License-Identifier: MIT
"""minhash: no key can be asked for, but the payload follows from the keys, section 5.34."""

from payload import M64, Fields, Kind, mix, need, need_clear, need_range, number_at, scale, whole_words


def unmix(x):
    """The number that mix made this of."""
    x = (x ^ x >> 33) * pow(0xC4CEB9FE1A85EC53, -1, 2**64) & M64
    x = (x ^ x >> 33) * pow(0xFF51AFD7ED558CCD, -1, 2**64) & M64
    return x ^ x >> 33


class Minhash(Kind):
    name, words = "minhash", ("bins", "keep")

    def shape(self):
        need_range(16, self.bins, 65536, "bins")
        need(self.keep == 64 or 1 <= self.keep <= 16, "keep")
        return (0 if self.keep == 64 else 16) + whole_words(self.bins * self.keep)

    def open(self, payload):
        if self.keep == 64:
            self.numbers = Fields(payload, 64, self.bins)
            for i, number in enumerate(self.numbers):
                need(number == 0 or scale(unmix(number), self.bins) == i, "a number elsewhere")
            return
        keys, self.full = number_at(payload, 0), number_at(payload, 8)
        self.numbers = Fields(payload, self.keep, self.bins, 128)
        need_clear(payload, 128 + self.bins * self.keep)
        need(self.full <= self.bins and self.full <= keys, "keys and full bins")
        need(self.full or not (keys or self.numbers.in_use()), "keys of no bin")

    def has(self, h):
        return True

    def lender(self, full, i):
        def place(j):
            return mix(mix(i + 1) + j & M64)

        for draw in range(64):
            j = scale(place(65536 + draw), self.bins)
            if j in full:
                return j
        return min(full, key=place)

    def made_of(self, hashes):
        """The numbers that a sketch of these hashes has."""
        full = {}
        for h in hashes:
            i = scale(h, self.bins)
            full[i] = max(full.get(i, 0), mix(h))
        if self.keep == 64:
            return [full.get(i, 0) for i in range(self.bins)]
        mask = (1 << self.keep) - 1
        return [full[i if i in full else self.lender(full, i)] & mask for i in range(self.bins)]
