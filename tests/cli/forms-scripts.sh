# SPDX-License-Identifier: MIT
# Names in other scripts are one key with their xn-- form.
ldd "$(command -v tamis)" 2>/dev/null | grep -q idn2 || { echo "SKIP built without libidn2"; exit 0; }
echo münchen.de | tamis build -q m.tamis --canon domain -p 1e-6
printf 'münchen.de\nMÜNCHEN.de\nxn--mnchen-3ya.de\nXN--MNCHEN-3YA.DE.\nmunchen.de\nm\374nchen.de\n' | tamis check m.tamis
echo "-- and below it"
echo xn--mnchen-3ya.de | tamis build -q p.tamis --canon domain,parents -p 1e-6
echo http://www.MÜNCHEN.de/x | tamis check p.tamis
