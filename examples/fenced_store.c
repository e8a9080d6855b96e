/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fenced_store: a resource that does not rely on locks. It keeps one record, and with it the largest fencing token that
 * it has ever received; a write with a smaller one is refused. So a client that wrongly believes that it holds the lock
 * cannot overwrite its successor's record, however long it slept, whatever its clock shows.
 *
 * A reader of a read/write lock gives its token too, and is refused when a later writer has written. Its token is not
 * remembered: readers at the same time have different ones, and a writer that goes on as a reader keeps its own.
 *
 * That needs two things. Comparing and writing must be one step: here one process handles one request after another.
 * And the largest token must be as durable as the record: here they are one file, replaced as a whole.
 */
#define _GNU_SOURCE /* accept4(), where the compiler is asked for strict C11 */
#include "fenced_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* Requests are "get", "read TOKEN" and "put TOKEN TEXT", answers "TOKEN TEXT", "stale TOKEN" and "failed": a packet
 * each. */
enum { PACKET_SIZE = TEXT_SIZE + 64 };

struct record {
    int64_t token;
    char text[TEXT_SIZE];
};

/* --- the record, on disk ----------------------------------------------------------------------------------------- */

static void parse(const char *line, struct record *r)
{
    char *rest;
    r->token = strtoll(line, &rest, 10);
    snprintf(r->text, sizeof r->text, "%s", *rest == ' ' ? rest + 1 : "");
    r->text[strcspn(r->text, "\n")] = '\0'; /* a record is a line */
}

/* No file: nothing was written yet. */
static int load(const char *file, struct record *r)
{
    char line[PACKET_SIZE] = "";
    *r = (struct record){0};
    FILE *f = fopen(file, "r");
    if (!f)
        return errno == ENOENT ? 0 : -1;
    if (fgets(line, sizeof line, f))
        parse(line, r);
    int bad = ferror(f);
    fclose(f);
    return bad ? -1 : 0;
}

static int write_whole(const char *file, const struct record *r)
{
    FILE *f = fopen(file, "w");
    if (!f)
        return -1;
    bool bad = fprintf(f, "%" PRId64 " %s", r->token, r->text) < 0 || fflush(f) || fsync(fileno(f));
    return fclose(f) || bad ? -1 : 0;
}

/* A new name is on the disk once its directory is. */
static int sync_directory(const char *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", file);
    int fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int rc = fsync(fd);
    close(fd);
    return rc;
}

/* All of it or nothing, and on the disk before any client is notified. */
static int save(const char *file, const struct record *r)
{
    char fresh[PATH_MAX];
    if ((size_t)snprintf(fresh, sizeof fresh, "%s.new", file) >= sizeof fresh)
        return -1;
    return write_whole(fresh, r) || rename(fresh, file) || sync_directory(file) ? -1 : 0;
}

/* --- the store --------------------------------------------------------------------------------------------------- */

/* The fence. An equal token is the same holder again. */
static int put(const char *file, struct record *r, const struct record *wanted)
{
    if (wanted->token < r->token)
        return EXIT_STALE;
    if (save(file, wanted))
        return EXIT_TROUBLE;
    *r = *wanted;
    return 0;
}

static void answer(int fd, const char *file, struct record *r)
{
    char packet[PACKET_SIZE] = "";
    struct record wanted;
    int status = 0;
    if (recv(fd, packet, sizeof packet - 1, 0) <= 0)
        return;
    if (strncmp(packet, "put ", 4) == 0) {
        parse(packet + 4, &wanted);
        status = put(file, r, &wanted);
    } else if (strncmp(packet, "read ", 5) == 0) {
        parse(packet + 5, &wanted);
        status = wanted.token < r->token ? EXIT_STALE : 0;
    }
    if (status == EXIT_TROUBLE)
        snprintf(packet, sizeof packet, "failed");
    else if (status == EXIT_STALE)
        snprintf(packet, sizeof packet, "stale %" PRId64, r->token);
    else
        snprintf(packet, sizeof packet, "%" PRId64 " %s", r->token, r->text);
    send(fd, packet, strlen(packet), MSG_NOSIGNAL);
}

static int open_socket(const char *address, struct sockaddr_un *a)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    if ((size_t)snprintf(a->sun_path, sizeof a->sun_path, "%s", address) >= sizeof a->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

int store_serve(const char *address, const char *file)
{
    struct sockaddr_un a;
    struct record r;
    if (load(file, &r)) {
        perror(file);
        return EXIT_TROUBLE;
    }
    int s = open_socket(address, &a);
    if (s < 0 || (unlink(address) && errno != ENOENT) || bind(s, (struct sockaddr *)&a, sizeof a) || listen(s, 16)) {
        perror(address);
        return EXIT_TROUBLE;
    }
    for (;;) {
        int fd = accept4(s, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            continue;
        /* A client that is stopped before it sends its request must not stop the others. */
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = 1}, sizeof(struct timeval));
        answer(fd, file, &r);
        close(fd);
    }
}

/* --- its clients ------------------------------------------------------------------------------------------------- */

static int ask(const char *address, char packet[PACKET_SIZE])
{
    struct sockaddr_un a;
    ssize_t n = -1;
    int s = open_socket(address, &a);
    if (s < 0)
        return -1;
    if (connect(s, (struct sockaddr *)&a, sizeof a) == 0 && send(s, packet, strlen(packet), MSG_NOSIGNAL) >= 0)
        n = recv(s, packet, PACKET_SIZE - 1, 0);
    close(s);
    if (n <= 0)
        return -1;
    packet[n] = '\0';
    return 0;
}

/* The status in an answer. */
static int judge(const char *packet, int64_t *largest)
{
    if (strcmp(packet, "failed") == 0)
        return EXIT_TROUBLE;
    if (strncmp(packet, "stale ", 6) != 0)
        return 0;
    *largest = strtoll(packet + 6, NULL, 10);
    return EXIT_STALE;
}

int store_put(const char *address, int64_t token, const char *text, int64_t *largest)
{
    char packet[PACKET_SIZE];
    snprintf(packet, sizeof packet, "put %" PRId64 " %.*s", token, TEXT_SIZE - 1, text);
    return ask(address, packet) ? EXIT_TROUBLE : judge(packet, largest);
}

int store_read(const char *address, int64_t token, char text[TEXT_SIZE], int64_t *largest)
{
    char packet[PACKET_SIZE];
    struct record r;
    snprintf(packet, sizeof packet, "read %" PRId64, token);
    int status = ask(address, packet) ? EXIT_TROUBLE : judge(packet, largest);
    parse(packet, &r);
    snprintf(text, TEXT_SIZE, "%s", r.text);
    return status;
}

int store_get(const char *address, int64_t *token, char text[TEXT_SIZE])
{
    char packet[PACKET_SIZE] = "get";
    struct record r;
    if (ask(address, packet))
        return EXIT_TROUBLE;
    parse(packet, &r);
    *token = r.token;
    snprintf(text, TEXT_SIZE, "%s", r.text);
    return 0;
}

/* --- the command ------------------------------------------------------------------------------------------------- */

static int usage(void)
{
    fprintf(stderr,
            "Usage: fenced_store demo HOSTS              a story: a holder sleeps for longer than its session lives\n"
            "       fenced_store serve SOCKET FILE       keep a record in FILE\n"
            "       fenced_store put SOCKET TOKEN TEXT   write it, with the fencing token of a lock\n"
            "       fenced_store read SOCKET TOKEN       print it, with the fencing token of a lock for reading\n"
            "       fenced_store get SOCKET              print its token and text\n\n"
            "Exit status: 0 done, 1 refused for its token, 2 trouble, 64 usage.\n");
    return EXIT_USAGE;
}

static int64_t token_of(const char *word)
{
    char *end;
    int64_t token = strtoll(word, &end, 10);
    return end == word || *end ? 0 : token;
}

static int report(int status, const char *address, int64_t largest)
{
    if (status == EXIT_STALE)
        fprintf(stderr, "fenced_store: refused: the store has seen token %" PRId64 "\n", largest);
    else if (status)
        fprintf(stderr, "fenced_store: %s: no answer\n", address);
    return status;
}

static int put_command(char **argv)
{
    int64_t largest = 0, token = token_of(argv[3]);
    if (token <= 0)
        return usage();
    int status = store_put(argv[2], token, argv[4], &largest);
    return report(status, argv[2], largest);
}

static int read_command(char **argv)
{
    char text[TEXT_SIZE];
    int64_t largest = 0, token = token_of(argv[3]);
    if (token <= 0)
        return usage();
    int status = store_read(argv[2], token, text, &largest);
    if (status == 0)
        printf("%s\n", text);
    return report(status, argv[2], largest);
}

static int get_command(char **argv)
{
    int64_t token;
    char text[TEXT_SIZE];
    int status = store_get(argv[2], &token, text);
    if (status == 0)
        printf("%" PRId64 " %s\n", token, text);
    else
        fprintf(stderr, "fenced_store: %s: no answer\n", argv[2]);
    return status;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    if (argc == 3 && strcmp(verb, "demo") == 0)
        return demo(argv[2]);
    if (argc == 4 && strcmp(verb, "serve") == 0)
        return store_serve(argv[2], argv[3]);
    if (argc == 5 && strcmp(verb, "put") == 0)
        return put_command(argv);
    if (argc == 4 && strcmp(verb, "read") == 0)
        return read_command(argv);
    if (argc == 3 && strcmp(verb, "get") == 0)
        return get_command(argv);
    return usage();
}
