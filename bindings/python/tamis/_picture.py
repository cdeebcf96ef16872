# SPDX-License-Identifier: MIT
"""What a notebook shows of a filter: a bar of the bits that are set, and a few facts."""
from html import escape


def _rate(fpr):
    return f"{100 * fpr:.3g} %"


def html(f):
    """The filter as HTML, in colours that work on light and dark pages."""
    i = f.info()
    width, full = 240, min(max(i.fill, 0), 1)
    keys = f"{i.items:,} of {i.capacity:,}" if i.capacity else f"{i.items:,}"
    facts = [("items", keys), ("rate now", _rate(i.fpr_now)), ("rate asked", _rate(i.fpr_asked) if i.fpr_asked else "by size"),
             ("fill", f"{100 * full:.1f} %"), ("image", f"{i.stored_bytes:,} bytes")]
    if i.caveat:
        facts.append(("caveat", i.caveat))
    color = "#c33" if i.is_degraded or i.is_saturated else "#39c"
    rows = "".join(f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>{escape(text)}</td></tr>"
                   for name, text in facts)
    return (f"<div><code>{escape(f.spec)}</code><br>"
            f"<svg width='{width}' height='12' role='img' aria-label='{100 * full:.0f} % of the bits are set'>"
            f"<rect width='{width}' height='12' fill='#8884'/><rect width='{width * full:.1f}' height='12' fill='{color}'/></svg>"
            f"<table>{rows}</table></div>")
