// Functions of glibc that Swift's `Glibc` leaves out, as its header declares them for GNU programs only.

#ifndef BACKLINE_CSPAWN_SHIM_H
#define BACKLINE_CSPAWN_SHIM_H

#include <spawn.h>

extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

#endif
