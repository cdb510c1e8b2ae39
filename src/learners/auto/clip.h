/* Numbers that are kept within bounds, so that every later product is finite. */
#ifndef GBOSE_LEARNERS_AUTO_CLIP_H
#define GBOSE_LEARNERS_AUTO_CLIP_H

/* Residuals and scores are clipped to this: their squares are then finite. */
#define GBOSE__CLIP_RESIDUAL 1e140

/* x, or the end of [-most, most] that is nearer to it. */
static inline double gbose__clip(double x, double most)
{
    return x > most ? most : x < -most ? -most : x;
}

/* The larger of two numbers: fmax() is a call. */
static inline double gbose__clip_below(double x, double least)
{
    return x > least ? x : least;
}

#endif
