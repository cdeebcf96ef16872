/* SPDX-License-Identifier: MIT */
/* What the planner is told: how many rows a filter lets through. Members are as many as the filter
 * has items, of as many distinct values as the column has; of the others its rate. */
#include "engines/postgres/pg.h"

#include <nodes/supportnodes.h>
#include <optimizer/optimizer.h>
#include <utils/lsyscache.h>
#include <utils/selfuncs.h>

#include <string.h>

enum { UNKNOWN_SHARE_PER_CENT = 10 }; /* of a filter that is not known before the query runs */

static double rate_of(const tamis *f, const struct tamis_info *info) {
    const size_t size = tamis_spec(f, NULL, 0) + 1;
    char *spec = palloc(size);
    double rate;
    tamis_spec(f, spec, size);
    if (!tamis_plan_fpr(spec, info->items, &rate)) return rate;
    return info->fpr_asked > 0 ? info->fpr_asked : 0.01;
}

static double share(const tamis *f, double distinct) {
    struct tamis_info info = TAMIS_INFO_INIT;
    tamis_get_info(f, &info);
    const double rate = rate_of(f, &info);
    const double members = distinct > (double)info.items ? (double)info.items / distinct : 1;
    return members + (1 - members) * rate;
}

/* Other bytes beside a column of filters are keys, and would have to pass the gate. */
static bool is_filter(const Const *value) {
    FmgrInfo input;
    Oid function, element;
    getTypeInputInfo(value->consttype, &function, &element);
    fmgr_info(function, &input);
    return input.fn_addr == pg_tamis_in;
}

/* A constant of a plan has passed the gate; its header is enough here. */
static double share_of(const Const *filter, VariableStatData *column) {
    struct varlena *bytes = PG_DETOAST_DATUM_PACKED(filter->constvalue);
    pg_room room;
    tamis *f;
    bool is_guess;
    pg_load_in(&room, CurrentMemoryContext);
    room.options.is_trusted = true;
    if (tamis_view_with(&f, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes), &room.options))
        return UNKNOWN_SHARE_PER_CENT / 100.0;
    const double passes = share(f, get_variable_numdistinct(column, &is_guess));
    tamis_free(f);
    return passes;
}

static double selectivity(PlannerInfo *root, List *args, int relation) {
    VariableStatData column;
    Node *other;
    bool is_left;
    double passes = UNKNOWN_SHARE_PER_CENT / 100.0;
    if (list_length(args) != 2 ||
        !get_restriction_variable(root, args, relation, &column, &other, &is_left))
        return passes;
    if (IsA(other, Const) && ((Const *)other)->constisnull)
        passes = 0;
    else if (IsA(other, Const) && is_filter((Const *)other))
        passes = share_of((Const *)other, &column);
    ReleaseVariableStats(column);
    CLAMP_PROBABILITY(passes);
    return passes;
}

PG_FUNCTION_INFO_V1(pg_tamis_selectivity);
Datum pg_tamis_selectivity(PG_FUNCTION_ARGS) {
    PG_RETURN_FLOAT8(selectivity((PlannerInfo *)PG_GETARG_POINTER(0), (List *)PG_GETARG_POINTER(2),
                                 PG_GETARG_INT32(3)));
}

/* The same for calls by name. */
PG_FUNCTION_INFO_V1(pg_tamis_support);
Datum pg_tamis_support(PG_FUNCTION_ARGS) {
    Node *request = (Node *)PG_GETARG_POINTER(0);
    if (!IsA(request, SupportRequestSelectivity)) PG_RETURN_POINTER(NULL);
    SupportRequestSelectivity *asked = (SupportRequestSelectivity *)request;
    if (asked->is_join) PG_RETURN_POINTER(NULL);
    asked->selectivity = selectivity(asked->root, asked->args, asked->varRelid);
    PG_RETURN_POINTER(asked);
}
