/* Journals of a study, with right checksums and wrong contents: refused in one line, or what is whole is
 * taken in and every run that is done has a curve; and a session that goes on writing leaves a journal
 * that is whole. */
#include "texts.h"

#include "core/bytes.h"
#include "study/journal.h"
#include "study/plan_json.h"
#include "study/result.h"

#define HEADER 24

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static const char plan_text[] =
    "{\"study\": \"simulate\", \"worlds\": [\"paper\"], \"learners\": [{\"label\": \"g\", \"spec\": "
    "\"gbose\", "
    "\"values\": []}], \"rounds\": 3, \"repetitions\": 4, \"fresh\": 0, \"seed\": 1}";

static struct gbose__study *new_study(void)
{
    gbose_error err;
    struct gbose__plan *plan = gbose__plan_json_read(plan_text, &err);
    struct gbose__study *study = plan ? gbose__study_new(plan) : NULL;

    require(study != NULL);
    return study;
}

static size_t record_size(void)
{
    static size_t size;

    if (!size) {
        struct gbose__study *study = new_study();
        size = 8 + gbose__result_size(study->plan->n_points) + 8;
        gbose__study_free(study);
    }
    return size;
}

/* The header and the checksum of every record are made right; now and then one of them is left as it is. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size_t record = record_size();
    struct gbose__writer w = {data, 0, HEADER, 0};

    size = LLVMFuzzerMutate(data, size, max_size);
    if (size < HEADER || seed % 16 == 0)
        return size;
    gbose__put_u64(&w, UINT64_C(0x314c4e524a534247));
    gbose__put_u64(&w, gbose__mix_text(1, plan_text));
    gbose__put_u64(&w, record);
    for (size_t at = HEADER; at + record <= size && seed % 16 != 1; at += record) {
        struct gbose__writer seal = {data + at + record - 8, 0, 8, 0};

        if (seed % 2) /* an index that there is */
            memset(data + at + 1, 0, 7);
        gbose__put_u64(&seal, gbose__checksum(data + at, record - 8));
    }
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gbose__study *study = new_study(), *other = new_study();
    struct gbose__journal *journal = NULL;
    gbose_error err;
    int rc;

    file_of("journal.bin", data, size);
    rc = gbose__journal_read(directory, plan_text, study, &err);
    if (rc)
        check_refusal(rc, &err);
    for (size_t i = 0; i < study->n_runs; i++)
        require(!study->result[i].done || study->result[i].curve);
    rc = gbose__journal_lock(&journal, directory, other, &err);
    require(rc == GBOSE_OK);
    if (!gbose__journal_begin(journal, plan_text, other, &err)) {
        size_t done = 0, again = 0;

        for (size_t i = 0; i < other->n_runs; i++)
            done += other->result[i].done != 0;
        if (done)
            for (size_t i = 0; i < other->n_runs; i++)
                if (other->result[i].done)
                    require(gbose__journal_append(journal, other, i, &err) == GBOSE_OK);
        gbose__journal_close(journal);
        gbose__study_free(study);
        study = new_study();
        require(gbose__journal_read(directory, plan_text, study, &err) == GBOSE_OK);
        for (size_t i = 0; i < study->n_runs; i++)
            again += study->result[i].done != 0;
        require(again == done);
    } else {
        gbose__journal_close(journal);
    }
    gbose__study_free(study);
    gbose__study_free(other);
    return 0;
}
