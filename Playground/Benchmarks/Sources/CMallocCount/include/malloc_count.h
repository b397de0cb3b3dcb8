#ifndef MALLOC_COUNT_H
#define MALLOC_COUNT_H

/// Starts to count the allocations of all threads, from 0.
void malloc_count_start(void);

/// Stops counting, and returns the number of allocations.
unsigned long malloc_count_stop(void);

#endif
