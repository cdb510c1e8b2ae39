/* Who has a connection: any loop, but one at a time.
 *
 * Each connection has a home, the loop whose epoll reports it; but a loop with nothing to do of its own takes what has come for another
 * one, which may be busy with a long request, or wait for a core while others run there. A loop that has news for a connection
 * leaves them in its `state`, and takes it, unless another loop has it: that one finds the news before it lets go. So neither waits
 * for the other. The memory of a connection is used again for other ones, and epoll may have told a loop about one that
 * another loop has closed meanwhile: each use of the memory has a number, by which that is seen. */
#define _GNU_SOURCE /* EPOLLRDHUP */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/http_inner.h"

/* Of a state: its lower half has these and the news, its upper half the number of the use. */
#define TAKEN UINT64_C(1) /* a loop has it */
#define USED UINT64_C(2)  /* it is a connection */
#define USE (UINT64_C(1) << 32)

static uint64_t use_of(uint64_t state)
{
    return state / USE * USE;
}

/* Nobody needs it any more. */
static void give_back(struct gbose__link *link)
{
    struct gbose__http *http = link->loop->http;

    atomic_store(&link->state, use_of(atomic_load(&link->state)) + USE);
    pthread_mutex_lock(&http->lock);
    link->next = http->free;
    http->free = link;
    pthread_mutex_unlock(&http->lock);
    atomic_fetch_sub(&http->connections, 1);
    gbose__http_room(http);
}

/* Cut off a connection on which no whole request has arrived for too long, or whose client does not take its answer; and, when
 * stopping, one that is idle, and in the end any. */
static void look(struct gbose__link *link)
{
    struct gbose__http *http = link->loop->http;
    int phase = link->x ? link->x->phase : GBOSE__READING, stopping = atomic_load(&http->stopping);
    int64_t now = gbose__http_clock(), limit = (int64_t)http->options.slow_seconds * 1000;

    if ((stopping && (phase == GBOSE__READING || now > http->stop_until)) ||
        (phase == GBOSE__READING && now - link->since > limit) ||
        (phase == GBOSE__SENDING && now - link->since > GBOSE__TAKING * limit))
        gbose__link_close(link);
}

/* The loop has it: do what its news ask for. */
static void hear(struct gbose__link *link, unsigned news)
{
    if (news & GBOSE__GONE)
        gbose__link_close(link);
    link->readable |= (news & (GBOSE__MORE | GBOSE__OVER)) != 0;
    link->over |= (news & GBOSE__OVER) != 0;
    if (news & GBOSE__READY && !gbose__exchange_resume(link->x)) {
        if (link->closed) {
            gbose__exchange_end(link->x);
            link->x = NULL;
        } else {
            gbose__exchange_answer(link->x);
        }
    }
    gbose__link_go(link);
    if (news & GBOSE__LOOK)
        look(link);
}

/* The loop has done what it could: others may have it, unless there are more news. */
static void let_go(struct gbose__link *link)
{
    while (!link->listed) {
        uint64_t state = atomic_load(&link->state);

        if (link->closed && !link->x) {
            give_back(link);
            return;
        }
        if (!(state & GBOSE__NEWS) && atomic_compare_exchange_strong(&link->state, &state, state & ~TAKEN))
            return;
        hear(link, atomic_fetch_and(&link->state, ~(uint64_t)GBOSE__NEWS) & GBOSE__NEWS);
    }
}

void gbose__link_new(struct gbose__loop *loop, struct gbose__loop *home, int socket)
{
    struct gbose__http *http = loop->http;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET};
    struct gbose__link *link;
    uint64_t use;
    int one = 1;

    pthread_mutex_lock(&http->lock);
    link = http->free;
    if (link)
        http->free = link->next;
    else if (http->n_used < http->options.connections)
        link = &http->link[http->n_used++];
    pthread_mutex_unlock(&http->lock);
    if (!link) {
        close(socket);
        return;
    }
    use = use_of(atomic_load(&link->state));
    link->loop = loop;
    link->home = home;
    link->next = NULL;
    link->socket = socket;
    link->x = link->then = NULL;
    link->since = gbose__http_clock();
    link->readable = link->over = link->draining = link->listed = link->closed = 0;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    atomic_fetch_add(&http->connections, 1);
    atomic_store(&link->state,
                 use | USED | TAKEN); /* until epoll has it: others may hear of it before that */
    event.data.u64 = use | (uint64_t)(link - http->link);
    if (epoll_ctl(home->epoll, EPOLL_CTL_ADD, socket, &event))
        gbose__link_close(link);
    let_go(link);
}

int gbose__link_take(struct gbose__loop *loop, struct gbose__link *link)
{
    uint64_t state = atomic_load(&link->state);

    do
        if (state & TAKEN)
            return 0;
    while (!atomic_compare_exchange_weak(&link->state, &state, state | TAKEN));
    link->loop = loop;
    return 1;
}

void gbose__link_resume(struct gbose__link *link)
{
    hear(link, GBOSE__READY);
    let_go(link);
}

/* It has the news; returns whether nobody had it, and it is taken. `use`: NULL, or the one that is meant. */
static int take(struct gbose__link *link, const uint64_t *use, uint64_t news)
{
    uint64_t state = atomic_load(&link->state);

    do
        if (!(state & USED) || (use && use_of(state) != *use))
            return 0;
    while (!atomic_compare_exchange_weak(&link->state, &state, state | news | TAKEN));
    return !(state & TAKEN);
}

static void tell(struct gbose__loop *loop, struct gbose__link *link, const uint64_t *use, unsigned news)
{
    if (!take(link, use, news))
        return;
    link->loop = loop;
    hear(link, atomic_fetch_and(&link->state, ~(uint64_t)GBOSE__NEWS) & GBOSE__NEWS);
    let_go(link);
}

void gbose__link_tell(struct gbose__loop *loop, struct gbose__link *link, unsigned news)
{
    tell(loop, link, NULL, news);
}

void gbose__link_report(struct gbose__loop *loop, uint64_t name, unsigned news)
{
    uint64_t use = use_of(name);

    tell(loop, &loop->http->link[name - use], &use, news);
}

void gbose__link_tell_all(struct gbose__loop *loop, unsigned news)
{
    struct gbose__http *http = loop->http;
    size_t n;

    pthread_mutex_lock(&http->lock);
    n = http->n_used;
    pthread_mutex_unlock(&http->lock);
    for (size_t i = 0; i < n; i++)
        gbose__link_tell(loop, &http->link[i], news);
}

void gbose__loop_go_on(struct gbose__loop *loop)
{
    struct gbose__link *list = loop->again;

    loop->collecting = 0;
    loop->again = NULL;
    while (list) {
        struct gbose__link *link = list;

        list = link->next;
        link->listed = 0;
        gbose__link_go(link);
        let_go(link);
    }
}
