/*
 * replay [FILE | DIRECTORY]...: the inputs through the target, each in a process of its own, so that one that kills it
 * is named and hides no other. Without arguments: the committed corpus.
 */
#include "test/fuzz/fuzz.h"
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds for one input; none takes a tenth of one. */
enum { LIMIT = 60, LONGEST = 1 << 20, SHOWN_MAX = 5 };

static size_t n_inputs, n_bad;

_Noreturn static void broken(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", pdk__fuzz_name, what, strerror(errno));
    exit(99);
}

/* A block of exactly the input's size, so that valgrind and the sanitizers see a read past its end. */
static uint8_t *load(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    uint8_t *buffer = malloc(LONGEST);
    if (in == NULL || buffer == NULL)
        broken(path);
    *size = fread(buffer, 1, LONGEST, in);
    fclose(in);
    uint8_t *exact = realloc(buffer, *size > 0 ? *size : 1);
    return exact != NULL ? exact : buffer;
}

_Noreturn static void run(const char *path, FILE *said)
{
    size_t size;
    uint8_t *data = load(path, &size);
    /* A target's output is only of interest when it dies. */
    dup2(fileno(said), STDERR_FILENO);
    alarm(LIMIT);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    exit(0);
}

static void show(const char *path, int status, FILE *said)
{
    char line[512];
    if (n_bad > SHOWN_MAX)
        return;
    printf("# %s: %s %d\n", path, WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    rewind(said);
    while (fgets(line, sizeof line, said) != NULL)
        printf("#   %s", line);
}

static void replay_file(const char *path)
{
    FILE *said = tmpfile();
    if (said == NULL)
        broken("tmpfile");
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0)
        broken("fork");
    if (pid == 0)
        run(path, said);
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            broken("waitpid");
    n_inputs++;
    if (status != 0) {
        n_bad++;
        show(path, status, said);
    }
    fclose(said);
}

static void replay_directory(const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0)
        broken(path);
    for (int i = 0; i < n; i++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            replay_file(file);
        free(entries[i]);
    }
    free(entries);
}

static void replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        broken(path);
    if (S_ISDIR(st.st_mode))
        replay_directory(path);
    else
        replay_file(path);
}

int main(int argc, char **argv)
{
    char corpus[4096];
    const char *srcdir = getenv("PADDOCK_SRCDIR");
    snprintf(corpus, sizeof corpus, "%s/test/fuzz/corpus/%s", srcdir != NULL ? srcdir : ".", pdk__fuzz_name);
    if (argc < 2)
        replay(corpus);
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    if (n_inputs == 0) {
        fprintf(stderr, "%s: the corpus is empty\n", pdk__fuzz_name);
        return 99;
    }
    if (n_bad > 0)
        printf("not ok - %s: %zu of %zu inputs break a promise\n", pdk__fuzz_name, n_bad, n_inputs);
    else
        printf("ok - %s: %zu inputs break no promise\n", pdk__fuzz_name, n_inputs);
    return n_bad > 0;
}
