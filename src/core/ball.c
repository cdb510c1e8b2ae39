/* max over the simplex of f(p) = sum_j p_j ||x_j - c||^2 with c = sum_j p_j x_j (the dual of the minimum
 * enclosing ball). f is concave; at its maximum every point is within the weighted mean squared distance.
 *
 * An active-set method, the dual one of Goldfarb and Idnani (Mathematical Programming 27, 1983) for this
 * quadratic program; Fischer, Gaertner and Kutz (ESA 2003) walk the same way in the primal. A support set
 * of affinely independent points is kept, all at one distance from the centre. The point x farthest from
 * the centre enters: with y its coordinates in the support's affine hull and r = x - sum_i y_i x_i the
 * rest, moving weight along e_x - y keeps the support's distances equal, and
 *     f(p + t (e_x - y)) = f(p) + t slope - t^2 ||r||^2
 * where slope is ||x - c||^2 less the square of the support's common distance from c.
 * At t = slope / (2 ||r||^2) x is at the common distance too, and belongs to the support. If the weight of
 * a point of the support runs out before, that point leaves, and x goes on from there. f grows with every
 * step, so that no support comes back, and a support has at most dim + 1 points.
 *
 * The differences x_i - x_0 of the support are kept as Q R: a point enters by Gram and Schmidt, twice for
 * precision, and leaves by plane rotations. */
#include "core/ball.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/arms.h"
#include "core/kernels.h"

/* Of a difference, what is shorter than this fraction is rounding: the point lies in the support's affine
 * hull. */
#define DEPENDENT (64 * DBL_EPSILON)

/* If the farthest pair is closer than this, squares of differences underflow. */
#define SHORTEST 1e-145

/* Seen: about 4 steps for each point of the support, even where all radii are nearly equal. The limit leaves
 * room for steps that rounding makes necessary. */
#define MAX_STEPS(capacity) (100 + 20 * (capacity))

static size_t capacity_for(size_t n, size_t dim)
{
    return n < dim + 2 ? n : dim + 2;
}

int gbose__ball_init(struct gbose__ball *ball, size_t n, size_t dim)
{
    size_t stride = gbose__pad(dim), capacity = capacity_for(n, dim), row = gbose__pad(capacity);
    double *at =
        gbose__alloc(gbose__pad(n) + 4 * row + 2 * stride + capacity * (row + stride), sizeof(double));

    *ball = (struct gbose__ball){.memory = at, .capacity = capacity, .row = row};
    if (!at)
        return 0;
    ball->basis = at;
    ball->off = at += capacity * stride;
    ball->centre = at += stride;
    ball->right = at += stride;
    ball->along = at += capacity * row;
    ball->lean = at += row;
    ball->weight = at += row;
    ball->square = at += row;
    ball->support = (size_t *)(at + gbose__pad(n));
    return 1;
}

void gbose__ball_clear(struct gbose__ball *ball)
{
    gbose__free(ball->memory);
    ball->memory = NULL;
}

/* Row k of R. Column i belongs to point i + 1 of the support. */
static double *right_row(const struct gbose__ball *s, size_t k)
{
    return s->right + k * s->row;
}

/* along <- R^-1 lean, for the points of the support but the first, whose share is returned: what is
 * missing to `total`. */
static double solve_back(const struct gbose__ball *s, double total)
{
    size_t m = s->size - 1, width = gbose__pad(m);

    memset(s->along, 0, s->row * sizeof(double));
    for (size_t k = m; k-- > 0;) {
        size_t begin = k / GBOSE__LANES * GBOSE__LANES;
        const double *row = right_row(s, k);

        s->along[k] = (s->lean[k] - gbose__dot(row + begin, s->along + begin, width - begin)) / row[k];
        total -= s->along[k];
    }
    return total;
}

/* x - x_0 as Q lean + off, by Gram and Schmidt twice. */
static void split(const struct gbose__ball *s, const double *x, const double *origin, size_t stride)
{
    size_t m = s->size - 1;

    for (size_t k = 0; k < stride; k++)
        s->off[k] = x[k] - origin[k];
    memset(s->lean, 0, s->row * sizeof(double));
    for (int pass = 0; pass < 2; pass++) {
        gbose__kernels->dots(s->along, s->basis, s->off, m, stride);
        for (size_t k = 0; k < m; k++) {
            gbose__kernels->axpy(s->off, -s->along[k], s->basis + k * stride, stride);
            s->lean[k] += s->along[k];
        }
    }
}

/* ||off||^2, or 0 if that is rounding only. */
static double rest_of(const struct gbose__ball *s, size_t stride)
{
    double rest = gbose__dot(s->off, s->off, stride), whole = rest + gbose__dot(s->lean, s->lean, s->row);

    return rest > DEPENDENT * DEPENDENT * whole ? rest : 0;
}

/* The point that split() has looked at last becomes one of the support. */
static void append(struct gbose__ball *s, size_t x, double weight, double rest2, size_t stride)
{
    size_t m = s->size - 1;
    double rest = sqrt(rest2), *q = s->basis + m * stride;

    for (size_t k = 0; k < stride; k++)
        q[k] = s->off[k] / rest;
    memset(right_row(s, m), 0, s->row * sizeof(double));
    for (size_t k = 0; k < m; k++)
        right_row(s, k)[m] = s->lean[k];
    right_row(s, m)[m] = rest;
    s->support[s->size] = x;
    s->weight[s->size++] = weight;
}

/* Point i of the support leaves, and so does column j of R, whose lower neighbours move up the diagonal
 * again by plane rotations. If it is the origin, the next point becomes it: all differences lose that
 * point's, which is R_00 at the top and 0 below, and then it is that column that leaves. The entering
 * point's difference, lean and off, follows. */
static void drop(struct gbose__ball *s, size_t i, size_t stride)
{
    size_t m = s->size - 1, j = i ? i - 1 : 0, width = gbose__pad(m);
    double *top = right_row(s, 0), first = i ? 0 : top[0];

    for (size_t k = 1; k < m && !i; k++)
        top[k] -= first;
    s->lean[0] -= first;
    memmove(s->support + i, s->support + i + 1, (m - i) * sizeof *s->support);
    memmove(s->weight + i, s->weight + i + 1, (m - i) * sizeof *s->weight);
    s->size--;
    for (size_t k = 0; k < m; k++) {
        double *row = right_row(s, k);
        size_t from = k > j + 1 ? k - 1 : j; /* what is left of it is zero, and stays */

        memmove(row + from, row + from + 1, (m - 1 - from) * sizeof *row);
        row[m - 1] = 0;
    }
    for (size_t k = j; k + 1 < m; k++) {
        double *row = right_row(s, k), *next = row + s->row, size = sqrt(row[k] * row[k] + next[k] * next[k]);
        double cosine = size > 0 ? row[k] / size : 1, sine = size > 0 ? next[k] / size : 0, lean = s->lean[k];
        size_t begin = k / GBOSE__LANES * GBOSE__LANES;

        gbose__kernels->rotate(s->basis + k * stride, s->basis + (k + 1) * stride, cosine, sine, stride);
        gbose__kernels->rotate(row + begin, next + begin, cosine, sine, width - begin);
        next[k] = 0;
        s->lean[k] = cosine * lean + sine * s->lean[k + 1];
        s->lean[k + 1] = cosine * s->lean[k + 1] - sine * lean;
    }
    gbose__kernels->axpy(s->off, s->lean[m - 1], s->basis + (m - 1) * stride, stride);
    s->lean[m - 1] = 0;
}

/* How far the weights can go against `along` (`first` for the origin) until one is 0; which one it is. */
static double room_along(const struct gbose__ball *s, double first, size_t *which)
{
    double least = INFINITY;

    *which = 0;
    for (size_t i = 0; i < s->size; i++) {
        double y = i ? s->along[i - 1] : first;
        if (y > 0 && s->weight[i] < least * y) {
            least = s->weight[i] / y;
            *which = i;
        }
    }
    return least;
}

static void move_along(const struct gbose__ball *s, double first, double t)
{
    for (size_t i = 0; i < s->size; i++) {
        double weight = s->weight[i] - t * (i ? s->along[i - 1] : first);
        s->weight[i] = weight > 0 ? weight : 0;
    }
}

/* Point x enters; `slope` is by how much its squared distance exceeds the support's. */
static void enter(struct gbose__ball *s, size_t x, double slope, const double *points, size_t stride)
{
    double weight = 0;

    split(s, points + x * stride, points + s->support[0] * stride, stride);
    for (;;) {
        double rest2 = rest_of(s, stride), first = solve_back(s, 1), room, step;
        size_t leaves;

        room = room_along(s, first, &leaves);
        step = rest2 > 0 ? slope / (2 * rest2) : INFINITY;
        if (step <= room || s->size == 1) {
            step = step < room ? step : room;
            move_along(s, first, step);
            append(s, x, weight + step, rest2, stride);
            return;
        }
        move_along(s, first, room);
        weight += room;
        slope -= 2 * room * rest2;
        drop(s, leaves, stride);
    }
}

/* Rounding has made the support's squared distances differ; they are in `square`, the origin's first. Move
 * the centre by Q z, with (x_i - x_0)'Q z = (square_i - square_0) / 2, and the weights by R^-1 z: they are
 * equal again. */
static void level(struct gbose__ball *s, size_t stride)
{
    size_t m = s->size - 1, leaves;
    double first, room;

    memset(s->lean, 0, s->row * sizeof(double));
    for (size_t k = 0; k < m; k++) {
        double sum = (s->square[0] - s->square[k + 1]) / 2; /* weights move against `along` */

        for (size_t j = 0; j < k; j++)
            sum -= right_row(s, j)[k] * s->lean[j];
        s->lean[k] = sum / right_row(s, k)[k];
    }
    first = solve_back(s, 0);
    room = room_along(s, first, &leaves);
    move_along(s, first, room < 1 ? room : 1);
    if (room <= 1)
        drop(s, leaves, stride);
}

/* The centre, and the weighted mean of the support's squared distances from it, which are left in
 * `square`. */
static double find_spread(struct gbose__ball *s, const double *points, size_t stride)
{
    double spread = 0;

    memset(s->centre, 0, stride * sizeof(double));
    for (size_t i = 0; i < s->size; i++)
        gbose__kernels->axpy(s->centre, s->weight[i], points + s->support[i] * stride, stride);
    gbose__kernels->squares(s->square, points, s->support, s->centre, s->size, stride);
    for (size_t i = 0; i < s->size; i++)
        spread += s->weight[i] * s->square[i];
    return spread;
}

static int is_member(const struct gbose__ball *s, size_t x)
{
    for (size_t i = 0; i < s->size; i++)
        if (s->support[i] == x)
            return 1;
    return 0;
}

/* One step towards the optimum; 0 if it is reached. */
static int improve(struct gbose__ball *s, const double *points, const size_t *keep, size_t count,
                   size_t stride)
{
    double spread = find_spread(s, points, stride), reach, rounding;
    size_t far;

    gbose__kernels->squares(s->square, points, keep, s->centre, count, stride);
    far = gbose__arms_argmax(s->square, count);
    reach = s->square[far];
    rounding = GBOSE__BALL_ROUNDING * sqrt(gbose__dot(s->centre, s->centre, stride)) * sqrt(reach);
    if (reach <= (1 + GBOSE__BALL_TOLERANCE) * spread + rounding)
        return 0;
    if (is_member(s, keep[far])) {
        find_spread(s, points, stride);
        level(s, stride);
    } else {
        enter(s, keep[far], reach - spread, points, stride);
    }
    return 1;
}

void gbose__ball_weights(double *p, struct gbose__ball *s, const double *points, const size_t *keep,
                         size_t count, size_t stride, size_t k, size_t l)
{
    double total = 0;

    s->size = 1;
    s->steps = 0;
    s->support[0] = k;
    s->weight[0] = 0.5;
    split(s, points + l * stride, points + k * stride, stride);
    append(s, l, 0.5, rest_of(s, stride), stride);
    if (count > 2 && right_row(s, 0)[0] > SHORTEST)
        while (s->steps < MAX_STEPS(s->capacity) && improve(s, points, keep, count, stride))
            s->steps++;
    for (size_t i = 0; i < count; i++)
        p[keep[i]] = 0;
    for (size_t i = 0; i < s->size; i++)
        total += s->weight[i];
    for (size_t i = 0; i < s->size; i++)
        p[s->support[i]] = s->weight[i] / total;
}
