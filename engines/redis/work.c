/* SPDX-License-Identifier: MIT */
/* One worker thread and its queue.
 *
 * What is only touched under the server's lock: jobs beside `is_made`, who waits for them,
 * `running`, the counts. The queue has a lock of its own. The worker never waits for the server's
 * lock while it holds that, and the main thread never waits for a job that the worker has not
 * begun: no two of them can wait for each other. */
#include "engines/redis/work.h"

#include <ctype.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "engines/redis/freeing.h"

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t comes, is_made;
    job *first, **last;
    uint64_t active, done, steps;
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER,
           .comes = PTHREAD_COND_INITIALIZER,
           .is_made = PTHREAD_COND_INITIALIZER,
           .last = &queue.first};

/* A command that waits for a job, with arguments of its own. */
typedef struct waiter {
    redis_blocked *client; /* NULL as soon as somebody else will answer it */
    call call;
    int key;      /* the argument that it waits for */
    bool is_told; /* by the primary */
    struct waiter *next;
} waiter;

/* The one that is being run again, or NULL; and whether the primary told what is run again or ended
 * now. */
static waiter *running;
static bool is_told_now;

/* The job whose end() runs now: what that begins answers the same client. */
static job *ending;

/* Did the primary send this command? */
static bool is_told(redis_ctx *ctx) {
    return redis.GetContextFlags(ctx) & REDIS_IS_REPLICATED;
}

/* ---- Filters that hold still ----------------------------------------------------------------- */

static void mark(job *j, job *as) {
    for (int i = 0; i < j->read_count; i++) j->reads[i]->job = as;
    if (j->target) j->target->job = as;
}

/* Notes are written before, so that saving and the like find nothing to change meanwhile. */
static void hold_still(job *j) {
    for (int i = 0; i < j->read_count; i++) value_note_facts(j->reads[i]);
    if (j->target) value_note_facts(j->target);
    mark(j, j);
}

/* ---- What the primary sent meanwhile --------------------------------------------------------- */

/* While a command of the primary waits, the server reads on; then it runs all that it has read
 * before anybody else is served, in one turn of its loop. What is ours among that lets others in
 * when a moment has passed: it waits for the next turn, and is the first of it. */
static struct {
    bool are_watched; /* turns: from the first such wait on */
    bool is_behind;   /* a command has waited; until a turn ends with nothing left to do */
    bool is_timed;    /* a command of the primary was run in this turn */
    moment turn;      /* that began with it */
    waiter *paused;   /* there is one stream, which waits with it */
    uint64_t pauses;
} primary;

static void run_again(waiter *);

static void turn_begins(redis_ctx *ctx, redis_event event, uint64_t part, void *data) {
    waiter *w = primary.paused;
    (void)ctx, (void)event, (void)data;
    if (part != REDIS_LOOP_HAS_SLEPT) return;
    if (primary.is_timed && !w) primary.is_behind = false;
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
    if (is_of_primary) primary.is_behind = primary.are_watched, primary.is_timed = false;
    redis.UnblockClient(client, NULL);
}

/* ---- Who waits ------------------------------------------------------------------------------- */

static waiter *waiter_new(redis_ctx *ctx, const call *c, int key) {
    waiter *w = redis.Alloc(sizeof *w);
    *w = (waiter){.call = *c, .key = key};
    w->call.argv = redis.Alloc((size_t)c->argc * sizeof *c->argv);
    for (int i = 0; i < c->argc; i++) w->call.argv[i] = redis.HoldString(NULL, c->argv[i]);
    w->is_told = is_told(ctx);
    w->client = running ? running->client : redis.BlockClient(ctx, NULL, NULL, NULL, 0);
    if (running) running->client = NULL;
    if (w->is_told) watch_turns(ctx);
    return w;
}

static void wait_for(redis_ctx *ctx, job *j, const call *c, int key) {
    waiter *w = waiter_new(ctx, c, key);
    *j->last_waiting = w;
    j->last_waiting = &w->next;
}

static void free_waiter(waiter *w) {
    for (int i = 0; i < w->call.argc; i++) redis.FreeString(NULL, w->call.argv[i]);
    redis.Free(w->call.argv);
    redis.Free(w);
}

/* In a cluster a key that is gone may have moved to another node: the client asks again, and is
 * told. */
static bool has_moved(redis_ctx *ctx, const waiter *w) {
    if (!(redis.GetContextFlags(ctx) & REDIS_IS_CLUSTER)) return false;
    place p = place_open(ctx, w->call.argv[w->key], REDIS_READ, ANY_FAMILY);
    const bool is_gone = !p.value && !p.is_wrong;
    place_close(&p);
    return is_gone;
}

static void run_again(waiter *w) {
    redis_ctx *ctx = redis.GetThreadSafeContext(w->client);
    const bool was_told = is_told_now;
    running = w;
    is_told_now = w->is_told;
    if (w->call.writes && !w->is_told && is_read_only(ctx))
        reply_read_only(ctx);
    else if (!w->is_told && has_moved(ctx, w))
        redis.ReplyWithError(ctx, "TRYAGAIN the key went away while the command waited for it");
    else
        w->call.function(ctx, w->call.argv, w->call.argc);
    running = NULL;
    is_told_now = was_told;
    redis.FreeThreadSafeContext(ctx);
    if (w->client) unblock(w->client, w->is_told);
    free_waiter(w);
}

bool work_is_behind(void) {
    return primary.is_behind;
}

uint64_t work_pauses(void) {
    return primary.pauses;
}

/* A server that has nothing else to do would sleep. */
static void wake(void *data) {
    (void)data;
}

bool work_must_pause(redis_ctx *ctx, const call *c) {
    if (running || primary.paused || !is_told(ctx) || !may_block(ctx)) return false;
    if (!primary.is_timed) {
        primary.is_timed = true;
        primary.turn = moment_begin();
    }
    if (!moment_is_over(&primary.turn) || redis.EventLoopAddOneShot(wake, NULL)) return false;
    primary.paused = waiter_new(ctx, c, c->first);
    primary.pauses++;
    return true;
}

/* What a command may call that looks at the client's own arguments: the context of one that is run
 * again has none. */
static int (*server_replicates)(redis_ctx *), (*server_says_arity)(redis_ctx *);
static int (*server_flags)(redis_ctx *);

/* Nor does that context know that the primary told it. */
static int context_flags(redis_ctx *ctx) {
    return server_flags(ctx) | (is_told_now ? REDIS_IS_REPLICATED : 0);
}

static int replicate_verbatim(redis_ctx *ctx) {
    if (!running) return server_replicates(ctx);
    const call *c = &running->call;
    return redis.Replicate(ctx, redis.StringPtrLen(c->argv[0], NULL), "v", c->argv + 1,
                           (size_t)(c->argc - 1));
}

static int wrong_arity(redis_ctx *ctx) {
    if (!running) return server_says_arity(ctx);
    char name[64];
    snprintf(name, sizeof name, "%s", redis.StringPtrLen(running->call.argv[0], NULL));
    for (char *c = name; *c; c++) *c = (char)tolower((unsigned char)*c);
    return reply_error(ctx, "ERR wrong number of arguments for '%s' command", name);
}

/* ---- Its end --------------------------------------------------------------------------------- */

/* On whichever thread, what binds is what bound whoever asked for it. */
static void make(job *j) {
    const bounds before = bounds_leave(j->bounds);
    j->make(j);
    j->bounds = bounds_leave(before);
}

/* A context without a client is in the first database. */
static redis_ctx *context_of(const job *j) {
    redis_ctx *ctx = redis.GetThreadSafeContext(j->client);
    redis.SelectDb(ctx, j->db);
    return ctx;
}

/* One more step; true when none is left. Under the server's lock. */
static bool step(job *j) {
    if (j->is_ended) return true;
    redis_ctx *ctx = context_of(j);
    const bool was_told = is_told_now;
    const bounds before = bounds_leave(j->bounds);
    queue.steps++;
    is_told_now = j->is_told;
    const bool is_last = j->step(j, ctx);
    is_told_now = was_told;
    j->bounds = bounds_leave(before);
    redis.FreeThreadSafeContext(ctx);
    return is_last;
}

/* Under the server's lock. */
static void end_once(job *j) {
    if (j->is_ended) return;
    redis_ctx *ctx = context_of(j);
    const bool was_told = is_told_now;
    j->is_ended = true;
    queue.active--;
    queue.done++;
    mark(j, NULL);
    const bounds before = bounds_leave(j->bounds);
    is_told_now = j->is_told;
    ending = j->client ? j : NULL;
    j->end(j, ctx);
    ending = NULL;
    is_told_now = was_told;
    bounds_leave(before);
    redis.FreeThreadSafeContext(ctx);
    if (j->client) unblock(j->client, j->is_told);
    for (waiter *w = j->waiting, *next; w; w = next) {
        next = w->next;
        run_again(w);
    }
}

/* Takes a job that nobody has begun out of the queue. */
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
 * once more at what was held of its arguments, has done that. NULL when somebody else was
 * faster. */
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

/* CLIENT PAUSE and failovers want a data set that stands still: a server that is told of a change
 * then ends itself. */
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
        job_free_strings(j);
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
    server_replicates = redis.ReplicateVerbatim;
    server_says_arity = redis.WrongArity;
    server_flags = redis.GetContextFlags;
    redis.GetContextFlags = context_flags;
    redis.ReplicateVerbatim = replicate_verbatim;
    redis.WrongArity = wrong_arity;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool is_good =
        start_thread(work, redis.GetThreadSafeContext(NULL)) && freeing_start(start_thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_good ? REDIS_OK : REDIS_ERR;
}

/* ---- Doing it -------------------------------------------------------------------------------- */

/* Who is run again waits already, and so does who has had a job done. */
bool may_block(redis_ctx *ctx) {
    const int never = REDIS_IN_SCRIPT | REDIS_IN_MULTI | REDIS_IS_LOADING | REDIS_IS_ASYNC_LOADING |
                      REDIS_MAY_NOT_BLOCK;
    return running || ending || !(redis.GetContextFlags(ctx) & never);
}

/* Of whoever asked, who waits for the worker from here on. */
static redis_blocked *take_client(redis_ctx *ctx) {
    redis_blocked **from = ending ? &ending->client : running ? &running->client : NULL;
    if (!from) return redis.BlockClient(ctx, NULL, NULL, NULL, 0);
    redis_blocked *client = *from;
    *from = NULL;
    return client;
}

static void give_to_worker(redis_ctx *ctx, job *j) {
    j->is_told = is_told(ctx);
    if (j->is_told) watch_turns(ctx);
    j->bounds = bounds_for_worker();
    hold_still(j);
    queue.active++;
    pthread_mutex_lock(&queue.mutex);
    *queue.last = j;
    queue.last = &j->next;
    pthread_cond_signal(&queue.comes);
    pthread_mutex_unlock(&queue.mutex);
}

void job_leave(redis_ctx *ctx, job *j) {
    give_to_worker(ctx, j);
}

int job_do(redis_ctx *ctx, job *j, uint64_t bytes) {
    if (bytes < LARGE_BYTES || !may_block(ctx)) {
        if (j->step)
            while (!j->step(j, ctx)) continue;
        else
            j->make(j);
        j->end(j, ctx);
        job_drop(j);
        return REDIS_OK;
    }
    j->client = take_client(ctx);
    give_to_worker(ctx, j);
    return REDIS_OK;
}

bool work_relay(redis_ctx *ctx, const call *c, void (*make_words)(job *), redis_string *from,
                void *to) {
    job *j = job_new(ctx, c->argv[1], NULL);
    if (!j) return false;
    waiter *w = redis.Alloc(sizeof *w);
    *w = (waiter){.call = *c, .key = c->first, .is_told = is_told(ctx)};
    w->client = take_client(ctx);
    j->waiting = w, j->last_waiting = &w->next;
    j->make = make_words, j->end = job_only_tells, j->only_tells = true;
    j->task = to;
    job_hold(j, &from, 1);
    give_to_worker(ctx, j);
    return true;
}

/* A context of a client that waits may be replied to without the lock. */
static void answer(job *j) {
    redis_ctx *ctx = redis.GetThreadSafeContext(j->client);
    j->answer(ctx, j->task);
    redis.FreeThreadSafeContext(ctx);
}

void job_only_tells(job *j, redis_ctx *ctx) {
    (void)j, (void)ctx;
}

void job_answer(redis_ctx *ctx, job *done, void (*how)(redis_ctx *, void *task), size_t count) {
    if (!done->client || count <= VERY_MANY) {
        how(ctx, done->task);
        return;
    }
    job *j = job_follow(ctx, done, NULL);
    if (!j) return;
    j->answer = how, j->make = answer, j->end = job_only_tells, j->only_tells = true;
    job_do(ctx, j, LARGE_BYTES);
}

bool work_is_active(void) {
    return queue.active > 0;
}

uint64_t work_active(void) {
    return queue.active;
}

uint64_t work_done(void) {
    return queue.done;
}

uint64_t work_steps(void) {
    return queue.steps;
}

static job *job_at(redis_ctx *ctx, redis_string *name) {
    place p = place_open(ctx, name, REDIS_READ, ANY_FAMILY);
    job *j = p.value ? p.value->job : NULL;
    place_close(&p);
    return j;
}

/* Whoever only reads, and may not wait, reads beside the job. Settling one may begin another, of
 * somebody who waited for it: then that is settled too. */
bool work_must_wait(redis_ctx *ctx, const call *c) {
    const bool may_wait = may_block(ctx);
    if (!may_wait && !c->writes) return false;
    for (int i = c->first; i <= c->last; i += c->step)
        for (job *j; (j = job_at(ctx, c->argv[i]));) {
            if (may_wait) {
                wait_for(ctx, j, c, i);
                return true;
            }
            settle(j);
        }
    return false;
}
