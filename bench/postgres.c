/*
 * The worker on PostgreSQL: advisory locks, or, with row=1, row locks in a transaction. Each lock has a connection of
 * its own. bench/run compiles it where libpq's headers are.
 */
#include "bench/worker.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pg_lock {
    PGconn *conn;
    bool row;
    char key[32];
};

static void ask(PGconn *c, const char *what)
{
    PGresult *r = PQexec(c, what);
    ExecStatusType s = PQresultStatus(r);
    if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK)
        worker_fail("%s: %.80s", what, PQerrorMessage(c));
    PQclear(r);
}

static void call(struct pg_lock *l, const char *statement)
{
    const char *values[] = {l->key};
    PGresult *r = PQexecPrepared(l->conn, statement, 1, values, NULL, NULL, 0);
    if (PQresultStatus(r) != PGRES_TUPLES_OK && PQresultStatus(r) != PGRES_COMMAND_OK)
        worker_fail("%s: %.80s", statement, PQerrorMessage(l->conn));
    PQclear(r);
}

static void prepare(PGconn *c, const char *name, const char *text) { PQclear(PQprepare(c, name, text, 1, NULL)); }

/* A key of 63 bits for the path. */
static void name_key(struct pg_lock *l, const char *path)
{
    unsigned long long h = 1469598103934665603ULL;
    for (; *path != '\0'; path++)
        h = (h ^ (unsigned char)*path) * 1099511628211ULL;
    snprintf(l->key, sizeof l->key, "%llu", h >> 1);
}

static void *lock_new(void *where, const char *path, bool contended)
{
    struct pg_lock *l = calloc(1, sizeof *l);
    (void)contended;
    if (l == NULL)
        return NULL;
    l->row = worker_option("row", 0) != 0;
    l->conn = PQconnectdb(where);
    if (PQstatus(l->conn) != CONNECTION_OK)
        worker_fail("%.120s", PQerrorMessage(l->conn));
    name_key(l, path);
    ask(l->conn, "SET client_min_messages = error");
    prepare(l->conn, "lock", "SELECT pg_advisory_lock($1::bigint)");
    prepare(l->conn, "unlock", "SELECT pg_advisory_unlock($1::bigint)");
    if (!l->row)
        return l;
    prepare(l->conn, "make", "INSERT INTO locks VALUES ($1::bigint) ON CONFLICT DO NOTHING");
    prepare(l->conn, "row", "SELECT id FROM locks WHERE id = $1::bigint FOR UPDATE");
    call(l, "make");
    return l;
}

static void lock_free(void *lock)
{
    PQfinish(((struct pg_lock *)lock)->conn);
    free(lock);
}

static void lock(void *lock)
{
    struct pg_lock *l = lock;
    if (l->row)
        ask(l->conn, "BEGIN");
    call(l, l->row ? "row" : "lock");
}

static void unlock(void *lock)
{
    struct pg_lock *l = lock;
    if (l->row)
        ask(l->conn, "COMMIT");
    else
        call(l, "unlock");
}

int main(int argc, char **argv)
{
    static const struct worker_system postgres = {
        .lock_new = lock_new, .lock_free = lock_free, .lock = lock, .unlock = unlock};
    return worker_main(argc, argv, &postgres);
}
