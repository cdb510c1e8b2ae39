#include "study/cluster.h"

#ifndef GBOSE_MPI

void gbose__cluster_begin(void)
{
}

void gbose__cluster_end(void)
{
}

int gbose__cluster_rank(void)
{
    return 0;
}

int gbose__cluster_size(void)
{
    return 1;
}

static void give(int rank, size_t index)
{
    (void)rank;
    (void)index;
}

void gbose__cluster_dismiss(void)
{
}

static int take(int *rank, size_t *index, struct gbose__result *result, size_t n_points, int *code,
                gbose_error *err)
{
    (void)rank;
    (void)index;
    (void)result;
    (void)n_points;
    (void)code;
    (void)err;
    return 0;
}

void gbose__cluster_serve(const struct gbose__plan *plan, const atomic_int *stop)
{
    (void)plan;
    (void)stop;
}

#else

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/run.h"

enum { TAG_RUN = 1, TAG_HOME, TAG_END, TAG_RESULT };

/* How a run ended; its result follows in a message of its own. */
struct message {
    uint64_t index;
    int done, code;
    char text[256];
};

static int rank_here, ranks = 1, joined;

/* Open MPI, MPICH and its kin, and Slurm's PMIx set one of these for what they start. Starting MPI alone
 * would only cost a second. */
static int launched(void)
{
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS"};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (getenv(marks[i]))
            return 1;
    return 0;
}

void gbose__cluster_begin(void)
{
    int provided;

    if (!launched())
        return;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    joined = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    /* all ranks read the same command line and would print the same error: once is enough */
    if (rank_here && (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout)))
        MPI_Abort(MPI_COMM_WORLD, 1);
}

void gbose__cluster_end(void)
{
    if (joined)
        MPI_Finalize();
    joined = 0;
}

int gbose__cluster_rank(void)
{
    return rank_here;
}

int gbose__cluster_size(void)
{
    return ranks;
}

static void give(int rank, size_t index)
{
    uint64_t number = index;

    MPI_Send(&number, 1, MPI_UINT64_T, rank, TAG_RUN, MPI_COMM_WORLD);
}

void gbose__cluster_dismiss(void)
{
    for (int rank = 1; rank < ranks; rank++)
        MPI_Send(NULL, 0, MPI_UINT64_T, rank, TAG_HOME, MPI_COMM_WORLD);
}

static int take(int *rank, size_t *index, struct gbose__result *result, size_t n_points, int *code,
                gbose_error *err)
{
    int size = (int)gbose__result_size(n_points), there;
    struct gbose__reader r;
    unsigned char *bytes;
    struct message m;
    MPI_Status status;

    if (ranks == 1)
        return 0;
    MPI_Iprobe(MPI_ANY_SOURCE, TAG_END, MPI_COMM_WORLD, &there, &status);
    if (!there)
        return 0;
    bytes = malloc((size_t)size);
    if (!bytes)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Recv(&m, sizeof m, MPI_BYTE, status.MPI_SOURCE, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(bytes, size, MPI_BYTE, status.MPI_SOURCE, TAG_RESULT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    r = (struct gbose__reader){bytes, (size_t)size, 0};
    gbose__result_read(&r, result, n_points);
    free(bytes);
    *rank = status.MPI_SOURCE;
    *index = (size_t)m.index;
    result->done = m.done;
    *code = m.code;
    if (err) {
        err->code = m.code;
        memcpy(err->text, m.text, sizeof err->text);
    }
    return 1;
}

void gbose__cluster_serve(const struct gbose__plan *plan, const atomic_int *stop)
{
    float *curve = calloc(plan->n_points, sizeof *curve);
    unsigned char *bytes = malloc(gbose__result_size(plan->n_points));

    if (!curve || !bytes)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (;;) {
        struct gbose__result result = {.curve = curve};
        struct gbose__writer w = {bytes, 0, gbose__result_size(plan->n_points), 0};
        struct message m;
        gbose_error err = {0, ""};
        MPI_Status status;

        memset(&m, 0, sizeof m);
        MPI_Recv(&m.index, 1, MPI_UINT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == TAG_HOME)
            break;
        m.code = gbose__run_play(&result, plan, (size_t)m.index, stop, &err);
        m.done = result.done;
        memcpy(m.text, err.text, sizeof m.text);
        gbose__result_write(&w, &result, plan->n_points);
        MPI_Send(&m, sizeof m, MPI_BYTE, 0, TAG_END, MPI_COMM_WORLD);
        MPI_Send(bytes, (int)w.size, MPI_BYTE, 0, TAG_RESULT, MPI_COMM_WORLD);
    }
    free(bytes);
    free(curve);
}

#endif

const struct gbose__ranks gbose__cluster = {gbose__cluster_size, give, take};
