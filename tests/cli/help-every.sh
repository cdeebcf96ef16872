# SPDX-License-Identifier: MIT
# Every verb has a reminder and a page, with an example of itself before all else.
for verb in $(tamis help more | sed -n '/^Topics:/q; s/^  \([a-z-]*\)  .*/\1/p'); do
    tamis $verb -h | head -n 1 | grep -q "^usage: tamis $verb \[OPTION...\]" || echo "$verb: -h"
    tamis help $verb | sed -n 4p | grep -q "tamis $verb" || echo "$verb: no example"
    tamis help $verb | grep -q '^Exit status: 0 ' || echo "$verb: no exit status"
    tamis help $verb | awk -v verb=$verb 'length > 80 || /\\n[^'"'"']/ { print verb ": " $0 }'
done
tamis delete; tamis freq; tamis age
tamis help remove | sed -n '/^Remove only/,/^$/p'
# Kinds too are told in 80 columns.
{
    tamis kinds
    for kind in $(tamis kinds | sed -n 's/^\([a-z]\{2,\}\)  .*/\1/p'); do tamis kinds "$kind"; done
} | awk 'length > 80'
