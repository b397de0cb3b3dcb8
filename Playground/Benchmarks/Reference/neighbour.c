/* Walks over 8 MiB until it is killed: a neighbour that takes the shared caches, as on the machines of a cloud. */
#include <stdint.h>
#include <stdlib.h>

int main(void) {
    const size_t size = 8 << 20;
    volatile uint8_t *memory = malloc(size);
    if (!memory) return 1;
    for (uint8_t round = 0;; round++)
        for (size_t place = 0; place < size; place += 64) memory[place] = round;
}
