# SPDX-License-Identifier: MIT
# What people read about an image. Its size is fixed here, so that the numbers are.
seq 1 100 | tamis build -q image.tamis --spec classic:capacity=1000,size=2KiB,hash=xxh64,seed=42
tamis info image.tamis | sed -e 's/about .*/about .../' -e 's/^\(  fpr now *\).*/\1.../' \
    -e 's/^\(  fill *\).*/\1.../' -e 's/^\(  kind *classic\).*/\1.../'
