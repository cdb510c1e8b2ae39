/* Dictionaries and lists of Python as features of a round. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/ndarraytypes.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glue.h"

#define MAX_NAME 400 /* bytes of a full name: longer than any that a schema can use */
#define MAX_DEPTH 16 /* of dictionaries within dictionaries */
#define CHUNK 4000   /* bytes taken at a time; more for what needs more */

struct chunk {
    struct chunk *next;
    size_t used, room;
    double bytes[]; /* aligned for all that is kept here */
};

/* What is being built: features list after list, and what they point to. */
struct build {
    const gbose_schema
        *schema; /* names become its slots, and what it does not use is left out; NULL: names are kept */
    gbose_error *err;
    gbose_feature *feature;
    size_t n_features, room;
    size_t *first; /* of each list: where it begins. The first list is that of the round */
    size_t n_lists, list_room;
    PyObject **kept; /* objects whose memory is pointed to */
    size_t n_kept, kept_room;
    struct chunk *chunks;
};

/* ---- errors and memory ---- */

static int no_memory(struct build *b)
{
    PyErr_Clear();
    b->err->code = GBOSE_ENOMEM;
    snprintf(b->err->text, sizeof b->err->text, "%s", gbose_strerror(GBOSE_ENOMEM));
    return GBOSE_ENOMEM;
}

static int wrong(struct build *b, const char *name, const char *words, PyObject *value)
{
    PyErr_Clear();
    b->err->code = GBOSE_EVALUE;
    snprintf(b->err->text, sizeof b->err->text, "%.120s %s%.60s", name, words,
             value ? Py_TYPE(value)->tp_name : "");
    return GBOSE_EVALUE;
}

static void *take(struct build *b, size_t size)
{
    struct chunk *c = b->chunks;
    size_t bytes = (size + 7) / 8 * 8;
    void *p;

    if (!c || c->room - c->used < bytes) {
        size_t room = bytes > CHUNK ? bytes : CHUNK;

        c = malloc(sizeof *c + room);
        if (!c)
            return NULL;
        *c = (struct chunk){b->chunks, 0, room};
        b->chunks = c;
    }
    p = (char *)c->bytes + c->used;
    c->used += bytes;
    return p;
}

/* Room for one more entry. */
static int reserve(struct build *b, void **list, size_t n, size_t *room, size_t size)
{
    if (n == *room) {
        size_t more = *room ? 2 * *room : 64;
        void *larger = realloc(*list, more * size);

        if (!larger)
            return no_memory(b);
        *list = larger;
        *room = more;
    }
    return GBOSE_OK;
}

/* Hold an object until all is encoded; a reference is taken over. */
static int keep(struct build *b, PyObject *object)
{
    void *list = b->kept;
    int rc = reserve(b, &list, b->n_kept, &b->kept_room, sizeof *b->kept);

    b->kept = list;
    if (rc)
        Py_DECREF(object);
    else
        b->kept[b->n_kept++] = object;
    return rc;
}

static void clear(struct build *b)
{
    while (b->chunks) {
        struct chunk *next = b->chunks->next;

        free(b->chunks);
        b->chunks = next;
    }
    for (size_t i = 0; i < b->n_kept; i++)
        Py_DECREF(b->kept[i]);
    free(b->kept);
    free(b->feature);
    free(b->first);
}

/* ---- single values ---- */

static int is_missing(PyObject *value)
{
    const char *type = Py_TYPE(value)->tp_name;

    return value == Py_None || strstr(type, "NAType") || strstr(type, "NaTType");
}

/* "true" or "false" for a bool, also numpy's; else NULL. */
static const char *truth(PyObject *value)
{
    if (PyBool_Check(value))
        return value == Py_True ? "true" : "false";
    if (!strcmp(Py_TYPE(value)->tp_name, "numpy.bool_") || !strcmp(Py_TYPE(value)->tp_name, "numpy.bool"))
        return PyObject_IsTrue(value) == 1 ? "true" : "false";
    return NULL;
}

static int is_array(PyObject *value)
{
    return !strcmp(Py_TYPE(value)->tp_name, "numpy.ndarray");
}

/* Has it a number to give, and is it no list? numpy's scalars and decimals are such. */
static int is_number(PyObject *value)
{
    const PyNumberMethods *methods = Py_TYPE(value)->tp_as_number;

    if (PyFloat_Check(value) || PyLong_Check(value))
        return 1;
    if (is_array(value))
        return PyArray_NDIM((PyArrayObject *)value) == 0;
    return methods && (methods->nb_float || methods->nb_index) && !Py_TYPE(value)->tp_iter;
}

static int get_number(struct build *b, const char *name, PyObject *value, double *out)
{
    *out = PyFloat_AsDouble(value);
    if (*out == -1 && PyErr_Occurred())
        return wrong(b, name, "must be a number that a float can hold, not of type ", value);
    return GBOSE_OK;
}

static int get_text(struct build *b, const char *name, PyObject *value, const char **out)
{
    Py_ssize_t n = 0;
    int rc = GBOSE_OK;

    if (PyBytes_Check(value)) {
        n = PyBytes_Size(value);
        *out = PyBytes_AsString(value);
    } else {
        *out = PyUnicode_AsUTF8AndSize(value, &n);
    }
    if (!*out)
        return wrong(b, name, "is a text that UTF-8 cannot hold", NULL);
    if (strlen(*out) != (size_t)n)
        return wrong(b, name, "is a text with a zero byte", NULL);
    Py_INCREF(value);
    rc = keep(b, value);
    return rc;
}

/* ---- lists ---- */

static int add_numbers(struct build *b, const char *name, gbose_feature *to, PyObject *list, size_t n)
{
    double *number = take(b, n * sizeof *number);
    int rc = number ? GBOSE_OK : no_memory(b);

    for (size_t i = 0; i < n && !rc; i++) {
        PyObject *entry = PyList_GetItem(list, (Py_ssize_t)i);

        if (is_missing(entry))
            number[i] = Py_NAN;
        else if (truth(entry) || !is_number(entry) || PyUnicode_Check(entry))
            rc = wrong(b, name, "must be all numbers or all texts; an entry is of type ", entry);
        else
            rc = get_number(b, name, entry, &number[i]);
    }
    to->kind = GBOSE_FEATURE_NUMBERS;
    to->as.numbers = number;
    to->n = n;
    return rc;
}

static int add_texts(struct build *b, const char *name, gbose_feature *to, PyObject *list, size_t n)
{
    const char **text = take(b, (n + 1) * sizeof *text);
    int rc = text ? GBOSE_OK : no_memory(b);

    for (size_t i = 0; i < n && !rc; i++) {
        PyObject *entry = PyList_GetItem(list, (Py_ssize_t)i);

        text[i] = is_missing(entry) ? "" : truth(entry);
        if (!text[i] && (PyUnicode_Check(entry) || PyBytes_Check(entry)))
            rc = get_text(b, name, entry, &text[i]);
        else if (!text[i])
            rc = wrong(b, name, "must be all numbers or all texts; an entry is of type ", entry);
    }
    to->kind = GBOSE_FEATURE_TEXTS;
    to->as.texts = text;
    to->n = n;
    return rc;
}

static int is_plain_array(PyObject *value)
{
    PyArrayObject *a = (PyArrayObject *)value;

    return is_array(value) && PyArray_NDIM(a) == 1 && PyArray_DESCR(a)->type_num == NPY_DOUBLE &&
           PyArray_DESCR(a)->byteorder != NPY_OPPBYTE &&
           PyArray_CHKFLAGS(a, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED);
}

static int add_list(struct build *b, const char *name, gbose_feature *to, PyObject *value)
{
    PyObject *list;
    size_t n, k = 0;
    int rc;

    if (is_plain_array(value)) {
        to->kind = GBOSE_FEATURE_NUMBERS;
        to->as.numbers = PyArray_DATA((PyArrayObject *)value);
        to->n = (size_t)PyArray_DIM((PyArrayObject *)value, 0);
        Py_INCREF(value);
        return keep(b, value);
    }
    list = PySequence_List(value);
    if (!list)
        return wrong(b, name, "must be a number, a text, or a list of either, not of type ", value);
    rc = keep(b, list);
    if (rc)
        return rc;
    n = (size_t)PyList_Size(list);
    while (k < n && is_missing(PyList_GetItem(list, (Py_ssize_t)k)))
        k++;
    if (k < n && is_number(PyList_GetItem(list, (Py_ssize_t)k)) &&
        !truth(PyList_GetItem(list, (Py_ssize_t)k)))
        return add_numbers(b, name, to, list, n);
    return add_texts(b, name, to, list, n);
}

/* ---- features ---- */

static int add_dict(struct build *b, const char *scope, PyObject *dict, int depth);

static int set_value(struct build *b, const char *name, gbose_feature *to, PyObject *value)
{
    const char *word;

    if (is_missing(value))
        return GBOSE_OK;
    word = truth(value);
    if (word || PyUnicode_Check(value) || PyBytes_Check(value)) {
        to->kind = GBOSE_FEATURE_TEXT;
        to->as.text = word;
        return word ? GBOSE_OK : get_text(b, name, value, &to->as.text);
    }
    if (is_number(value)) {
        to->kind = GBOSE_FEATURE_NUMBER;
        return get_number(b, name, value, &to->as.number);
    }
    return add_list(b, name, to, value);
}

/* The feature of this name, unless the schema does not use it. */
static int add_value(struct build *b, const char *name, PyObject *value, int depth)
{
    uint32_t slot = b->schema ? gbose_schema_slot(b->schema, name) : 0;
    void *list = b->feature;
    gbose_feature made = {0};
    int rc;

    if (PyDict_Check(value))
        return add_dict(b, name, value, depth + 1);
    if (b->schema && !slot)
        return GBOSE_OK;
    made.slot = slot;
    if (!slot) {
        char *copy = take(b, strlen(name) + 1);

        if (!copy)
            return no_memory(b);
        made.name = strcpy(copy, name);
    }
    rc = set_value(b, name, &made, value);
    if (!rc)
        rc = reserve(b, &list, b->n_features, &b->room, sizeof *b->feature);
    b->feature = list;
    if (!rc)
        b->feature[b->n_features++] = made;
    return rc;
}

/* The entries of a dictionary, as SCOPE.KEY. A key that is a full name already is taken as it is. */
static int add_dict(struct build *b, const char *scope, PyObject *dict, int depth)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    size_t length = strlen(scope);
    int rc = GBOSE_OK;

    if (depth > MAX_DEPTH)
        return wrong(b, scope, "is nested too deep", NULL);
    while (!rc && PyDict_Next(dict, &at, &key, &value)) {
        char name[MAX_NAME];
        const char *text = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;

        if (!text)
            return wrong(b, scope, "has a key that is no text, but of type ", key);
        if (length + strlen(text) + 2 > sizeof name) {
            if (!b->schema)
                return wrong(b, scope, "has a key that is too long", NULL);
            continue; /* no schema uses it */
        }
        if (!strncmp(text, scope, length) && text[length] == '.') {
            strcpy(name, text);
        } else {
            memcpy(name, scope, length);
            name[length] = '.';
            strcpy(name + length + 1, text);
        }
        rc = add_value(b, name, value, depth);
    }
    return rc;
}

/* ---- a round ---- */

static int begin_list(struct build *b)
{
    void *list = b->first;
    int rc = reserve(b, &list, b->n_lists, &b->list_room, sizeof *b->first);

    b->first = list;
    if (!rc)
        b->first[b->n_lists++] = b->n_features;
    return rc;
}

/* `scopes` is a dictionary of dictionaries, `actions` a list of dictionaries, or of names. */
static int read_round(struct build *b, PyObject *scopes, PyObject *actions)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    int rc = begin_list(b);

    while (!rc && PyDict_Next(scopes, &at, &key, &value))
        rc = add_dict(b, PyUnicode_AsUTF8(key), value, 1);
    for (Py_ssize_t i = 0; i < PyList_Size(actions) && !rc; i++) {
        PyObject *action = PyList_GetItem(actions, i);

        rc = begin_list(b);
        if (!rc && PyDict_Check(action))
            rc = add_dict(b, "action", action, 1);
        else if (!rc)
            rc = add_value(b, "action.id", action, 1);
    }
    return rc;
}

/* The lists, in the build's own memory; NULL: out of memory. */
static gbose_features *lists_of(struct build *b)
{
    gbose_features *list = take(b, b->n_lists * sizeof *list);

    for (size_t i = 0; list && i < b->n_lists; i++) {
        size_t end = i + 1 < b->n_lists ? b->first[i + 1] : b->n_features;

        list[i] = (gbose_features){b->feature + b->first[i], end - b->first[i]};
    }
    return list;
}

int py_encode(const gbose_schema *schema, uintptr_t scopes, uintptr_t actions, uintptr_t rows,
              uintptr_t round, gbose_error *err)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    struct build b = {.schema = schema, .err = err};
    double *to = rows ? PyArray_DATA((PyArrayObject *)rows) : NULL;
    gbose_features *list = NULL;
    int rc = read_round(&b, (PyObject *)scopes, (PyObject *)actions);

    if (!rc) {
        list = lists_of(&b);
        rc = list ? GBOSE_OK : no_memory(&b);
    }
    if (!rc)
        rc = gbose_encode(schema, to, round ? PyArray_DATA((PyArrayObject *)round) : NULL, &list[0], list + 1,
                          b.n_lists - 1, err);
    clear(&b);
    PyGILState_Release(gil);
    return rc;
}

int py_fit_add(gbose_fit *fit, uintptr_t scopes, uintptr_t actions, gbose_error *err)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    struct build b = {.err = err};
    gbose_features *list = NULL;
    int rc = read_round(&b, (PyObject *)scopes, (PyObject *)actions);

    if (!rc) {
        list = lists_of(&b);
        rc = list ? GBOSE_OK : no_memory(&b);
    }
    if (!rc)
        rc = gbose_fit_add(fit, &list[0], list + 1, b.n_lists - 1, err);
    clear(&b);
    PyGILState_Release(gil);
    return rc;
}
