#ifndef MALLOC_COUNT_H
#define MALLOC_COUNT_H

/// Begins to count, from 0, the allocations of all threads.
void malloc_count_start(void);

/// Ends counting, and returns how many there were.
unsigned long malloc_count_stop(void);

#endif
