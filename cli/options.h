/* Options that several sub-commands share, and how each says what was wrong with them. */
#ifndef PDK_CLI_OPTIONS_H
#define PDK_CLI_OPTIONS_H

#include <getopt.h>
#include <paddock/client.h>
#include <stdbool.h>
#include <stdint.h>

struct pdk__cli_options {
    const char *command; /* the sub-command, for messages */
    const char *hosts;
    const char *path;
    bool elect;     /* a leadership, not a lock */
    const char *id; /* of the candidate; NULL: the library's */
    pdk_client_options *client;
    int64_t wait_ms; /* PDK_FOREVER; 0: do not wait */
    int64_t connect_ms;
    int64_t session_ms; /* that are asked for */
    int busy_status;
    int lost_status;
    bool labelled;
    bool verbose;
    bool quiet;
};

/* Long options without a letter. */
enum {
    OPT_SESSION_TIMEOUT = 256,
    OPT_CONNECT_TIMEOUT,
    OPT_LABEL,
    OPT_AUTH,
    OPT_AUTH_FILE,
    OPT_ACL,
    OPT_LOST_STATUS,
    OPT_ON_LOST,
    OPT_KILL_AFTER,
    OPT_JSON,
    OPT_PORT,
    OPT_TICK,
    OPT_DATA,
    OPT_PARENT,
    OPT_FORCE,
    OPT_ID,
    OPT_KEEP,
    OPT_ONCE,
    OPT_ON_REVOKE
};

/* clang-format off */
#define PDK__CLI_ENSEMBLE_OPTIONS                                                                                          \
    {"hosts", required_argument, NULL, 'z'},                                                                           \
    {"session-timeout", required_argument, NULL, OPT_SESSION_TIMEOUT},                                                 \
    {"connect-timeout", required_argument, NULL, OPT_CONNECT_TIMEOUT},                                                 \
    {"auth", required_argument, NULL, OPT_AUTH},                                                                       \
    {"auth-file", required_argument, NULL, OPT_AUTH_FILE},                                                             \
    {"quiet", no_argument, NULL, 'q'},                                                                                 \
    {"verbose", no_argument, NULL, 'v'}

#define PDK__CLI_WAIT_OPTIONS                                                                                              \
    {"nb", no_argument, NULL, 'n'},                                                                                    \
    {"nonblock", no_argument, NULL, 'n'},                                                                              \
    {"wait", required_argument, NULL, 'w'},                                                                            \
    {"timeout", required_argument, NULL, 'w'},                                                                         \
    {"conflict-exit-code", required_argument, NULL, 'E'},                                                              \
    {"lost-exit-code", required_argument, NULL, OPT_LOST_STATUS},                                                      \
    {"label", required_argument, NULL, OPT_LABEL},                                                                     \
    {"acl", required_argument, NULL, OPT_ACL}

#define PDK__CLI_HELP_OPTIONS                                                                                              \
    {"help", no_argument, NULL, 'h'},                                                                                  \
    {"version", no_argument, NULL, 'V'},                                                                               \
    {NULL, 0, NULL, 0}
/* clang-format on */

/* Defaults, with the environment. Returns 0 or an exit status, already explained. */
int pdk__cli_options_begin(struct pdk__cli_options *o, const char *command);
void pdk__cli_options_end(struct pdk__cli_options *o);

/* Ask for this session timeout. PDK_EINVAL. */
int pdk__cli_options_session(struct pdk__cli_options *o, int ms);

/* Take OPTION as getopt_long() gave it, its argument in optarg. Returns 0, or an exit status, already explained. What
 * no sub-command knows ends here, too. */
int pdk__cli_options_take(struct pdk__cli_options *o, int option, char **argv);

/* Take the PATH at *argv, and see that there is an ensemble to ask. Returns 0 or an exit status, already explained. */
int pdk__cli_options_path(struct pdk__cli_options *o, const char *path);

#endif
