/* SPDX-License-Identifier: MIT */
/* One worker thread and its queue.
 *
 * What is only touched under the server's lock: jobs beside `is_made`, who waits for them, the
 * counts. The queue has a lock of its own. The worker never waits for the server's
 * lock while it holds that, and the main thread never waits for a job that the worker has not
 * begun: no two of them can wait for each other. */
#include "engines/redis/work.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "engines/redis/freeing.h"

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t comes, is_made;
    job *first, **last;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER,
           .comes = PTHREAD_COND_INITIALIZER,
           .is_made = PTHREAD_COND_INITIALIZER,
           .last = &queue.first};

/* A command that waits for a job, with arguments of its own. */
typedef struct waiter {
    request request;
    int key; /* the argument that it waits for */
    struct waiter *next;
} waiter;

/* ---- Filters that hold still ----------------------------------------------------------------- */

static void mark(job *j, job *as) {
    for (int i = 0; i < j->read_count; i++) j->reads[i]->job = as;
    if (j->target) j->target->job = as;
}

/* Notes are written before, so that saving and the like find nothing to change. */
static void hold_still(job *j) {
    for (int i = 0; i < j->read_count; i++) value_note_facts(j->reads[i]);
    if (j->target) value_note_facts(j->target);
    mark(j, j);
}

/* ---- What the primary sent during a wait ----------------------------------------------------- */

/* While a command of the primary waits, the server reads on; then it runs all that it has read
 * before anybody else is served, in one turn of its loop. What is ours among that lets others in
 * when a moment has passed: it waits for the next turn, and is the first of it. */
static struct {
    bool are_watched; /* turns: from the first such wait on */
    bool is_timed;    /* a command of the primary was run in this turn */
    moment turn;      /* that began with it */
    waiter *paused;   /* there is one stream, which waits with it */
} primary;

/* Until a turn ends with nothing left to do. */
bool work_is_behind;

static void run_again(waiter *);

static void turn_begins(redis_ctx *ctx, redis_event event, uint64_t part, void *data) {
    waiter *w = primary.paused;
    (void)ctx, (void)event, (void)data;
    if (part != REDIS_LOOP_HAS_SLEPT) return;
    if (primary.is_timed && !w) work_is_behind = false;
    primary.is_timed = false;
    primary.paused = NULL;
    if (!w) return;
    primary.turn = moment_begin();
    run_again(w);
    primary.is_timed = true;
}

/* Older servers do not tell: there everything is run at once. */
static void watch_turns(redis_ctx *ctx) {
    const redis_event loop = {REDIS_EVENT_LOOP, REDIS_EVENT_LOOP_VERSION};
    if (primary.are_watched || !redis.SubscribeToServerEvent || !redis.EventLoopAddOneShot) return;
    primary.are_watched = redis.SubscribeToServerEvent(ctx, loop, turn_begins) == REDIS_OK;
}

static void unblock(redis_blocked *client, bool is_of_primary) {
    if (is_of_primary) work_is_behind = primary.are_watched, primary.is_timed = false;
    redis.UnblockClient(client, NULL);
}

/* ---- Who waits ------------------------------------------------------------------------------- */

/* Of whoever asked, who waits from here on. */
static redis_blocked *take_client(request *r) {
    redis_blocked *client = r->is_late ? r->client : redis.BlockClient(r->ctx, NULL, NULL, NULL, 0);
    r->client = NULL;
    return client;
}

/* Arguments that are held until they are released. */
static redis_string **hold(redis_string **argv, int argc) {
    redis_string **held = redis.Alloc((size_t)argc * sizeof *held);
    for (int i = 0; i < argc; i++) held[i] = redis.HoldString(NULL, argv[i]);
    return held;
}

/* A request as it is run after a wait, without arguments. */
static request wait_with(request *r, redis_blocked *client) {
    request late = {.command = r->command,
                    .items = r->items,
                    .form = r->form,
                    .only_new = r->only_new,
                    .client = client,
                    .is_late = true,
                    .is_told = request_is_told(r)};
    if (late.is_told) watch_turns(r->ctx);
    return late;
}

/* Owns the arguments. */
static waiter *waiter_new(request *r, int key, redis_string **argv, int argc) {
    waiter *w = redis.Alloc(sizeof *w);
    *w = (waiter){.request = wait_with(r, take_client(r)), .key = key};
    w->request.argv = argv, w->request.argc = argc;
    return w;
}

static void wait_for(request *r, job *j, int key) {
    waiter *w = waiter_new(r, key, hold(r->argv, r->argc), r->argc);
    *j->last_waiting = w;
    j->last_waiting = &w->next;
}

static void free_waiter(waiter *w) {
    for (int i = 0; i < w->request.argc; i++) redis.FreeString(NULL, w->request.argv[i]);
    redis.Free(w->request.argv);
    redis.Free(w);
}

/* In a cluster a key that is gone may have moved to another node: the client asks again, and is
 * told. */
static bool has_moved(const waiter *w) {
    if (!(redis.GetContextFlags(w->request.ctx) & REDIS_IS_CLUSTER)) return false;
    request r = request_for(&w->request, w->request.argv[w->key], ANY_FAMILY);
    request_close(&r);
    return !r.value && !r.is_wrong;
}

static void run_again(waiter *w) {
    request *r = &w->request;
    redis_ctx *ctx = r->ctx = redis.GetThreadSafeContext(r->client);
    if (command_writes(r->command) && !r->is_told && is_read_only(ctx))
        reply_read_only(ctx);
    else if (!r->is_told && has_moved(w))
        redis.ReplyWithError(ctx, "TRYAGAIN the key went away while the command waited for it");
    else
        request_run(r);
    redis.FreeThreadSafeContext(ctx);
    if (r->client) unblock(r->client, r->is_told);
    free_waiter(w);
}

/* A server that has nothing else to do would sleep. */
static void wake(void *data) {
    (void)data;
}

static bool must_pause(request *r) {
    if (r->is_late || primary.paused || !request_is_told(r) || !may_wait(r)) return false;
    if (!primary.is_timed) {
        primary.is_timed = true;
        primary.turn = moment_begin();
    }
    if (!moment_is_over(&primary.turn) || redis.EventLoopAddOneShot(wake, NULL)) return false;
    primary.paused = waiter_new(r, 1, hold(r->argv, r->argc), r->argc);
    counters.pauses++;
    return true;
}

/* ---- Its end --------------------------------------------------------------------------------- */

/* On whichever thread, what binds is what bound whoever asked for it. */
static void make(job *j) {
    const bounds before = bounds_leave(j->bounds);
    j->make(j);
    j->bounds = bounds_leave(before);
}

/* Around what a job does under the server's lock: its request is open meanwhile. A context without
 * a client is in the first database. */
static void open_request(job *j) {
    j->kept.ctx = redis.GetThreadSafeContext(j->kept.client);
    redis.SelectDb(j->kept.ctx, j->db);
    j->bounds = bounds_leave(j->bounds);
}

static void close_request(job *j) {
    j->bounds = bounds_leave(j->bounds);
    request_close(&j->kept);
    redis.FreeThreadSafeContext(j->kept.ctx);
}

/* One more step; true when none is left. */
static bool step(job *j) {
    if (j->is_ended) return true;
    counters.job_steps++;
    open_request(j);
    const bool is_last = j->step(j);
    close_request(j);
    return is_last;
}

static void end_once(job *j) {
    if (j->is_ended) return;
    j->is_ended = true;
    counters.jobs_active--;
    counters.jobs_done++;
    mark(j, NULL);
    open_request(j);
    if (j->end) j->end(j);
    close_request(j);
    if (j->kept.client) unblock(j->kept.client, j->kept.is_told);
    for (waiter *w = j->waiting, *next; w; w = next) {
        next = w->next;
        run_again(w);
    }
}

/* Takes a job that was not begun out of the queue. */
static bool unqueue(job *j) {
    for (job **at = &queue.first; *at; at = &(*at)->next)
        if (*at == j) {
            *at = j->next;
            if (queue.last == &j->next) queue.last = at;
            return true;
        }
    return false;
}

/* For commands that may not wait as clients do. Under the server's lock, so that the worker, when
 * it waits for that, has made its job. */
static void settle(job *j) {
    pthread_mutex_lock(&queue.mutex);
    const bool is_ours = unqueue(j);
    while (!is_ours && !j->step && !j->is_made) pthread_cond_wait(&queue.is_made, &queue.mutex);
    pthread_mutex_unlock(&queue.mutex);
    if (j->step)
        while (!step(j)) continue;
    else if (is_ours)
        make(j);
    end_once(j);
    if (is_ours) job_drop(j);
}

/* ---- The worker ------------------------------------------------------------------------------ */

static void await_job(void) {
    pthread_mutex_lock(&queue.mutex);
    while (!queue.first) pthread_cond_wait(&queue.comes, &queue.mutex);
    pthread_mutex_unlock(&queue.mutex);
}

/* Under the server's lock: so the command that brought it has returned, and the server, which looks
 * once more at what was held of its arguments, has done that. NULL when another
 * thread was faster. */
static job *take_job(void) {
    pthread_mutex_lock(&queue.mutex);
    job *j = queue.first;
    if (j) unqueue(j);
    pthread_mutex_unlock(&queue.mutex);
    return j;
}

static job *next_job(redis_ctx *lock) {
    for (;;) {
        await_job();
        redis.ThreadSafeContextLock(lock);
        job *j = take_job();
        redis.ThreadSafeContextUnlock(lock);
        if (j) return j;
    }
}

/* CLIENT PAUSE and failovers want a data set that does not change: a server that replicates a
 * change then ends itself. */
static bool may_end(const job *j) {
    return j->is_ended || (j->only_tells && !j->waiting) || !redis.AvoidReplicaTraffic ||
           !redis.AvoidReplicaTraffic();
}

static void lock_to_end(redis_ctx *lock, const job *j) {
    static const struct timespec pause = {.tv_nsec = 5000000};
    for (;;) {
        redis.ThreadSafeContextLock(lock);
        if (may_end(j)) return;
        redis.ThreadSafeContextUnlock(lock);
        nanosleep(&pause, NULL);
    }
}

/* Whoever waits for the lock needs a moment to take it: a worker that took it again at once would
 * keep it. */
static void unlock_for_others(redis_ctx *lock) {
    static const struct timespec pause = {.tv_nsec = 300000};
    redis.ThreadSafeContextUnlock(lock);
    nanosleep(&pause, NULL);
}

static void work_by_steps(redis_ctx *lock, job *j) {
    for (;;) {
        lock_to_end(lock, j);
        if (step(j)) return; /* with the lock */
        unlock_for_others(lock);
    }
}

static void work_at_once(redis_ctx *lock, job *j) {
    make(j);
    pthread_mutex_lock(&queue.mutex);
    j->is_made = true;
    pthread_cond_broadcast(&queue.is_made);
    pthread_mutex_unlock(&queue.mutex);
    lock_to_end(lock, j);
}

/* The client has let go of its arguments when the server has been round once: what is left of them
 * is freed here, and for hundreds of thousands that takes longer than others should wait. */
static void release_in_pieces(redis_ctx *lock, job *j) {
    enum { PIECE = 4096 };
    while (j->held_count) {
        unlock_for_others(lock);
        redis.ThreadSafeContextLock(lock);
        job_release(j, PIECE);
    }
}

static void *work(void *lock) {
    for (;;) {
        job *j = next_job(lock);
        if (j->step)
            work_by_steps(lock, j);
        else
            work_at_once(lock, j);
        end_once(j);
        job_free_task(j);
        release_in_pieces(lock, j);
        redis.ThreadSafeContextUnlock(lock);
        job_free_filters(j);
    }
    return NULL;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static bool start_thread(void *(*run)(void *), void *with) {
    pthread_t thread;
    const bool is_good = pthread_create(&thread, NULL, run, with) == 0;
    if (is_good) pthread_detach(thread);
    return is_good;
}

/* Signals are for the server's own thread. */
int work_start(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool is_good =
        start_thread(work, redis.GetThreadSafeContext(NULL)) && freeing_start(start_thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_good ? REDIS_OK : REDIS_ERR;
}

/* ---- Doing it -------------------------------------------------------------------------------- */

static void give_to_worker(job *j, redis_blocked *client, int argc) {
    request *r = j->request;
    j->db = redis.GetSelectedDb(r->ctx);
    j->kept = wait_with(r, client);
    if (!j->held) j->held = hold(r->argv, argc), j->held_count = (size_t)argc;
    j->kept.argv = j->held, j->kept.argc = argc, j->kept.key = j->held[1];
    j->request = &j->kept;
    j->bounds = bounds_for_worker();
    hold_still(j);
    counters.jobs_active++;
    pthread_mutex_lock(&queue.mutex);
    *queue.last = j;
    queue.last = &j->next;
    pthread_cond_signal(&queue.comes);
    pthread_mutex_unlock(&queue.mutex);
}

void job_leave(job *j) {
    enum { NAME_AND_KEY = 2 };
    give_to_worker(j, NULL, NAME_AND_KEY);
}

int job_do(job *j, uint64_t bytes) {
    request *r = j->request;
    request_close(r);
    if (bytes >= LARGE_BYTES && may_wait(r)) {
        give_to_worker(j, take_client(r), r->argc);
        return REDIS_OK;
    }
    if (j->step)
        while (!j->step(j)) continue;
    else
        j->make(j);
    if (j->end) j->end(j);
    job_drop(j);
    return REDIS_OK;
}

bool work_relay(request *r, const request *again, void (*make_words)(job *)) {
    job *j = job_new(r, NULL, sizeof again->argv);
    if (!j) return false;
    waiter *w = waiter_new(r, 1, again->argv, again->argc);
    w->request.command = again->command;
    j->waiting = w, j->last_waiting = &w->next;
    j->make = make_words, j->only_tells = true;
    *(redis_string ***)j->task = again->argv;
    give_to_worker(j, NULL, r->argc);
    return true;
}

/* A context of a client that waits may be replied to without the lock. */
static void make_answer(job *j) {
    request r = *j->request;
    r.value = j->target;
    r.ctx = redis.GetThreadSafeContext(r.client);
    j->answer(&r, j->task);
    redis.FreeThreadSafeContext(r.ctx);
}

int job_ask(job *j, void (*how)(request *, void *task)) {
    j->answer = how, j->make = make_answer, j->only_tells = true;
    return job_do(j, LARGE_BYTES);
}

void job_answer(job *done, void (*how)(request *, void *task), size_t count) {
    if (!job_is_awaited(done) || count <= VERY_MANY) {
        how(done->request, done->task);
        return;
    }
    job *j = job_follow(done, NULL);
    if (j) job_ask(j, how);
}

static job *job_at(const request *r, int key) {
    const value *v = value_at(r->ctx, r->argv[key]);
    return v ? v->job : NULL;
}

/* Whoever only reads, and may not wait, reads beside the job. Settling one may begin another, of
 * a client that waited for it: then that is settled too. */
bool work_must_wait(request *r) {
    const bool writes = command_writes(r->command);
    if (!counters.jobs_active && !work_is_behind) return false;
    if (!writes && (r->command->use != ASK_BY_JOB || !may_wait(r))) return false;
    const bool waits = may_wait(r);
    for (int i = 1; i <= request_last_key(r); i += r->command->step)
        for (job *j; (j = job_at(r, i));) {
            if (waits) {
                wait_for(r, j, i);
                return true;
            }
            settle(j);
        }
    return work_is_behind && must_pause(r);
}
