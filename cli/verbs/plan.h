/* plan.h: only the files of `tamis plan` include this. */
#ifndef TAMIS_CLI_PLAN_H
#define TAMIS_CLI_PLAN_H

#include <stdbool.h>

/* The published tables of rates, for `tamis plan --table`: plan_table.c. */
int print_rate_tables(bool as_json);

#endif
