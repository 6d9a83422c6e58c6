/* What XS is told about the machine: a Cortex-M without an operating system, with newlib's C library. */
#ifndef __MCU_PLATFORM__
#define __MCU_PLATFORM__

#undef mxLittleEndian
#define mxLittleEndian 1
#define mxExport extern
#define mxImport extern
#define XS_FUNCTION_NORETURN __attribute__((noreturn))

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define mxMachinePlatform \
	int promiseJobs;

#define mxUseDefaultMachinePlatform 1
#define mxUseDefaultBuildKeys 1
#define mxUseDefaultChunkAllocation 1
#define mxUseDefaultSlotAllocation 1
#define mxUseDefaultParseScript 1
#define mxUseDefaultSharedChunks 1

#define mxMisalignedSettersCrash 1
#define C_PATH_MAX 256
#ifndef PATH_MAX
#define PATH_MAX 256
#endif
#define c_realpath(PATH, REAL) strcpy(REAL, PATH)

#endif
