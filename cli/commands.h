/* The sub-commands. Each takes its own words, argv[0] being its name, and returns the exit status. */
#ifndef PDK_CLI_COMMANDS_H
#define PDK_CLI_COMMANDS_H

int pdk__cli_lock_main(int argc, char **argv);
int pdk__cli_elect_main(int argc, char **argv);
int pdk__cli_hold_main(int argc, char **argv);
int pdk__cli_ls_main(int argc, char **argv);
int pdk__cli_break_main(int argc, char **argv);
int pdk__cli_doctor_main(int argc, char **argv);
int pdk__cli_graph_main(int argc, char **argv);
int pdk__cli_top_main(int argc, char **argv);
int pdk__cli_barrier_main(int argc, char **argv);
int pdk__cli_server_main(int argc, char **argv);

#endif
