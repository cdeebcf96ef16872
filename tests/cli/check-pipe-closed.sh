# SPDX-License-Identifier: MIT
# A reader that goes away gets no words about it.
echo ant | tamis build -q animals.tamis
yes ant | tamis check animals.tamis | head -n 2
