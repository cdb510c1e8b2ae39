/* The disk under the files that the store writes itself: its texts and its journal. Only programs that are linked with these calls
 * wrapped have it, see tests/CMakeLists.txt. SQLite has a disk of its own. */
#ifndef TESTS_SUPPORT_DISK_H
#define TESTS_SUPPORT_DISK_H

enum disk_call { DISK_OPEN_DIRECT, DISK_WRITE, DISK_SYNC, DISK_HOLE, DISK_CUT };

/* Asked before each call. 0: it is made; else it fails with that errno. NULL: none fails. */
extern int (*disk_fate)(enum disk_call call);

/* As after a loss of power: what was written and not synced since is zeros. */
void disk_forgets(void);

#endif
