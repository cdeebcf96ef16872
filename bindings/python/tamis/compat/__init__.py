# SPDX-License-Identifier: MIT
"""Classes shaped like those of other libraries, on filters of this one: rbloom and pybloom_live."""
