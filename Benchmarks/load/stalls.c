// stalls - how long a disk keeps a small write waiting.
//   stalls FOLDER
// Each millisecond, or when the last write has ended, one page of a file in the folder is written and made durable with
// fdatasync, until SIGTERM. Then one JSON line on stdout: the time of a write, and the share of all time that was spent
// in writes that took longer than 5 ms.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 8192, PAGES = 128, MOST = 1 << 20 };
static volatile sig_atomic_t ended;
static float times[MOST];

static void end(int number) { ended = number; }
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static void fail(const char *what) {
    perror(what);
    exit(2);
}
static int ascending(const void *a, const void *b) {
    float d = *(const float *)a - *(const float *)b;
    return d < 0 ? -1 : d > 0;
}

int main(int count, char **words) {
    if (count != 2) {
        fprintf(stderr, "stalls: see the head of stalls.c\n");
        return 2;
    }
    char path[4096], page[PAGE] = {0};
    snprintf(path, sizeof path, "%s/stalls", words[1]);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) fail(path);
    unlink(path);
    signal(SIGTERM, end);
    // As with the write-ahead log, the file has its size from the beginning.
    for (int i = 0; i < PAGES; i++)
        if (pwrite(fd, page, PAGE, i * PAGE) != PAGE) fail(path);
    if (fsync(fd)) fail(path);
    size_t writes = 0;
    double began = now(), stalled = 0;
    for (double due = began; !ended && writes < MOST; due += 0.001) {
        double start = now();
        if (start < due) usleep((useconds_t)((due - start) * 1e6)), start = now();
        if (start > due + 1) due = start;
        page[0]++;
        if (pwrite(fd, page, PAGE, (off_t)(writes % PAGES) * PAGE) != PAGE || fdatasync(fd)) fail(path);
        double took = now() - start;
        if (took > 0.005) stalled += took;
        times[writes++] = (float)took;
    }
    double all = now() - began;
    if (!writes) return 1;
    qsort(times, writes, sizeof *times, ascending);
    printf("{\"write_us_p50\": %.0f, \"write_us_p99\": %.0f, \"write_us_max\": %.0f, \"stalled\": %.4f}\n",
           times[writes / 2] * 1e6, times[writes * 99 / 100] * 1e6, times[writes - 1] * 1e6, stalled / all);
    return 0;
}
