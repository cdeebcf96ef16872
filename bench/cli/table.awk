# SPDX-License-Identifier: MIT
# table.awk: the medians of bench/cli/run as tables: sizes, plan and results, in this order.
function title(task) {
    return task == "plain" ? "lines that are in a set" : task == "uniq" ? "the first of every line" : \
        task == "once" ? "all lines once" : task == "csv" ? "rows of CSV by a field" : \
        task == "jsonl" ? "objects of JSONL by a field" : task == "cidr" ? "addresses in blocks" : \
        task == "domain" ? "hosts under domains" : "lines, compressed by " substr(task, 8)
}
function median(list, m,    part, i, j, t) {
    m = split(list, part, " ")
    for (i = 2; i <= m; i++)
        for (j = i; j > 1 && part[j - 1] + 0 > part[j] + 0; j--) { t = part[j]; part[j] = part[j - 1]; part[j - 1] = t }
    return m % 2 ? part[(m + 1) / 2] : (part[m / 2] + part[m / 2 + 1]) / 2
}
function of(a, b, places) {
    return a != "" && b + 0 != 0 ? sprintf("%.*f", places, a / b) : ""
}
function ratio(what, slow, fast, target, way,    is) {
    if (slow == "" || fast == "") return
    is = slow / fast
    printf "| %s | %s | %s | %.2f | %s |\n", what, way, target, is, (way == "at least" ? is >= target : is <= target) ? "met" : "**missed**"
}
FILENAME ~ /sizes$/ { lines_of[$1] = $2; bytes_of[$1] = $3; next }
FILENAME ~ /plan$/ { rows++; task[rows] = $1; input[rows] = $2; side[rows] = $3; name[rows] = $4; next }
{ split($2, r, " "); seconds[$1] = seconds[$1] " " r[1]; busy[$1] = busy[$1] " " r[2]; if (r[3] > peak[$1]) peak[$1] = r[3]; out[$1] = $3; rounds[$1]++ }
END {
    print "| task | tool | seconds | processor | MB/s per core | M lines/s per core | lines out | peak MiB | rounds |"
    print "|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= rows; i++) {
        if (!(i in seconds)) continue
        s[i] = median(seconds[i]); b[i] = median(busy[i])
        at = b[i] > 0 ? b[i] : 0.001
        printf "| %s | %s | %.3f | %.3f | %.0f | %.2f | %d | %.1f | %d |\n", task[i] == before ? "" : title(task[i]), name[i], s[i], b[i], \
            bytes_of[input[i]] / at / 1e6, lines_of[input[i]] / at / 1e6, out[i], peak[i] / 1024, rounds[i]
        before = task[i]
        by[task[i], name[i]] = s[i]
        if (side[i] == "ours" && !((task[i]) in ours)) { ours[task[i]] = b[i]; ours_name[task[i]] = name[i]; order[++tasks] = task[i] }
        if (side[i] == "peer" && (!((task[i]) in best) || b[i] < best[task[i]])) { best[task[i]] = b[i]; best_name[task[i]] = name[i] }
        if (side[i] == "floor") floor[task[i]] = b[i]
    }
    print "\nBy processor time, the first row of ours:\n"
    print "| task | ours | best peer | peer / ours | ours / floor |"
    print "|---|---|---|---|---|"
    for (i = 1; i <= tasks; i++) {
        t = order[i]
        printf "| %s | %s | %s | %s | %s |\n", title(t), ours_name[t], (t in best) ? best_name[t] : "none", \
            of(best[t], ours[t], 1), of(ours[t], floor[t], 2)
    }
    print "\n| promise | | target | this run | |"
    print "|---|---|---|---|---|"
    ratio("check, against grep -Fxf", by["plain", "grep -Fxf"], by["plain", "tamis build, check"], 30, "at least")
    ratio("check, against awk", by["plain", "awk (mawk)"], by["plain", "tamis build, check"], 15, "at least")
    ratio("check, against DCSO bloom", by["plain", "DCSO bloom, p = 0.01"], by["plain", "tamis build, check"], 7, "at least")
    ratio("check with -T2, against one thread", by["once", "tamis check -c"], by["once", "tamis check -c, -T2"], 1.7, "at least")
    ratio("uniq, against sort -u", by["uniq", "sort -u"], by["uniq", "tamis uniq"], 4, "at least")
    ratio("check, times the bare loop", by["once", "tamis check -c"], by["once", "read, cut, hash"], 1.3, "at most")
    ratio("build with a capacity, times the bare loop", by["once", "tamis build, capacity told"], by["once", "read, cut, hash"], 1.3, "at most")
    for (i = 1; i <= rows; i++) {
        if (side[i] != "ours" || !(i in b) || b[i] == 0) continue
        if (task[i] == "plain" && name[i] == "tamis build, check")
            printf "| peak memory of build and check | at most | filter + 64 MiB | %.1f MiB | %s |\n", peak[i] / 1024, (peak[i] / 1024 < 64 + 1.2 * n / 1e7) ? "met" : "**missed**"
        if (task[i] == "csv") ratio("CSV, MB/s per core", bytes_of[input[i]] / 1e6, b[i], 400, "at least")
        if (task[i] == "jsonl") ratio("JSONL, MB/s per core", bytes_of[input[i]] / 1e6, b[i], 250, "at least")
        if (task[i] == "cidr" || task[i] == "domain") ratio(title(task[i]) ", M lines/s per core", lines_of[input[i]] / 1e6, b[i], 5, "at least")
    }
}
