/* SPDX-License-Identifier: MIT */
/* statistics.c: the incomplete beta and gamma functions, and what they are good for here.
 *
 * Both are computed as a continued fraction, by the modified Lentz method, where that converges
 * quickly, and otherwise by symmetry or as a series.
 */
#include "cli/measure/statistics.h"

#include <float.h>
#include <math.h>

static const double tiny = 1e-300;

/* One step of a continued fraction a1/(b1 + a2/(b2 + ...)); false when it no longer moves. */
struct fraction {
    double value, c, d;
};

static double away_from_zero(double x) {
    return fabs(x) < tiny ? tiny : x;
}

static int step(struct fraction *f, double a, double b) {
    f->d = 1 / away_from_zero(b + a * f->d);
    f->c = away_from_zero(b + a / f->c);
    f->value *= f->c * f->d;
    return fabs(f->c * f->d - 1) > 2 * DBL_EPSILON;
}

enum { MAX_STEPS = 100000 };

/* The share of the beta distribution below x, for x left of its middle. */
static double beta_left(double x, double a, double b) {
    struct fraction f = {.value = 1, .c = 1, .d = 1 / away_from_zero(1 - (a + b) * x / (a + 1))};
    f.value = f.d;
    for (double m = 1; m < MAX_STEPS; m++) {
        step(&f, m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), 1);
        if (!step(&f, -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), 1)) break;
    }
    const double front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x);
    return exp(front) * f.value / a;
}

static double beta_below(double x, double a, double b) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    return x < (a + 1) / (a + b + 2) ? beta_left(x, a, b) : 1 - beta_left(1 - x, b, a);
}

/* Where that share is `wanted`. */
static double beta_quantile(double wanted, double a, double b) {
    double low = 0, high = 1;
    for (int i = 0; i < 200 && high - low > 1e-16 * high; i++) {
        const double middle = (low + high) / 2;
        if (beta_below(middle, a, b) < wanted)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

struct interval rate_interval(uint64_t hits, uint64_t trials, double alpha) {
    const double k = (double)hits, n = (double)trials;
    return (struct interval){
        .low = hits == 0 ? 0 : beta_quantile(alpha / 2, k, n - k + 1),
        .high = hits == trials ? 1 : beta_quantile(1 - alpha / 2, k + 1, n - k),
    };
}

/* ---- Chi square ---- */

/* The share of the gamma distribution below x, as a series; for x left of its middle. */
static double gamma_below(double a, double x) {
    double term = 1 / a, sum = term;
    for (double n = 1; n < MAX_STEPS && term > sum * DBL_EPSILON; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * exp(a * log(x) - x - lgamma(a));
}

static double gamma_above(double a, double x) {
    struct fraction f = {.c = 1 / tiny, .d = 1 / away_from_zero(x + 1 - a)};
    f.value = f.d;
    for (double n = 1; n < MAX_STEPS; n++)
        if (!step(&f, n * (a - n), x + 2 * n + 1 - a)) break;
    return f.value * exp(a * log(x) - x - lgamma(a));
}

double chi_square_tail(double x, double degrees) {
    const double a = degrees / 2;
    x /= 2;
    if (!(x > 0) || !(a > 0)) return 1;
    return x < a + 1 ? 1 - gamma_below(a, x) : gamma_above(a, x);
}
