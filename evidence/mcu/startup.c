/* What runs before main(): the vector table, and memory as C expects it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern uint32_t stack_top, data_load, data_start, data_end, bss_start, bss_end;
extern void __libc_init_array(void);
extern void initialise_monitor_handles(void);
extern int main(void);

void _init(void) {}
void _fini(void) {}

void reset(void)
{
	uint32_t* from = &data_load;
	for (uint32_t* to = &data_start; to < &data_end;)
		*to++ = *from++;
	for (uint32_t* to = &bss_start; to < &bss_end;)
		*to++ = 0;
	__libc_init_array();
	initialise_monitor_handles();
	exit(main());
}

static void fault(void)
{
	puts("the processor faulted");
	exit(99);
}

__attribute__((section(".vectors"), used)) const void* const vectors[16] = {
	&stack_top, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, fault,
};
