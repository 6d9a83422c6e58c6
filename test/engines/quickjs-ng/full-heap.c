/*
 * Runs scripts in QuickJS-ng with a heap in which a chosen allocation fails, once or until the call returns.
 *
 *     full-heap MODULE SCRIPT...      the namespace of the module is the global hubProtocol
 *
 * Scripts have these functions besides:
 *
 *     attempt(f)           calls f; what it allocates is counted, and may fail
 *     apart(f, argument)   calls f, which belongs to a test, from within: what it allocates neither counts nor fails
 *     failAt(n, always)    the nth allocation from now on fails; with `always`, so do all others in the same attempt
 *     counted()            the allocations since failAt
 *     failures()           how many of them failed
 *     holds(hex)           whether these bytes are in the heap, in use or free
 *     print(text)
 *
 * Nothing is overwritten when it is freed, so `holds` also finds what a program did not wipe. What is freed after a failure is not
 * used again before the next failAt: the error for the failure would overwrite some of it, depending on what was free before.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "quickjs.h"

#define HEAP ((size_t)1 << 30)
#define CLASSES 128
#define STEP 16 /* between the sizes of small blocks */
#define SMALL 1024

/* Before each block. */
typedef struct Block {
  size_t size;
  struct Block *next; /* if it is free */
} Block;

static uint8_t *heap;
static size_t used;
static Block *unused[CLASSES];
static Block *kept; /* what was freed after a failure */

static int counting;
static int64_t count, failing, failed;
static int always;

static int fails(void) {
  if (!counting) return 0;
  count++;
  if (failing == 0 || count < failing || (count > failing && !always)) return 0;
  failed++;
  return 1;
}

/* Rounds a size up, and returns its class. */
static int class_of(size_t *size) {
  if (*size <= SMALL) {
    int index = *size == 0 ? 0 : (int)((*size - 1) / STEP);
    *size = (size_t)(index + 1) * STEP;
    return index;
  }
  int index = SMALL / STEP;
  size_t room = 2 * SMALL;
  while (room < *size) room *= 2, index++;
  *size = room;
  return index;
}

static void *get(size_t size) {
  int class = class_of(&size);
  Block *block = unused[class];
  if (block != NULL) {
    unused[class] = block->next;
  } else {
    if (used + sizeof(Block) + size > HEAP) abort();
    block = (Block *)(heap + used);
    block->size = size;
    used += sizeof(Block) + size;
  }
  return block + 1;
}

static size_t size_of(const void *at) { return at == NULL ? 0 : ((const Block *)at - 1)->size; }

static void release(void *opaque, void *at) {
  if (at == NULL) return;
  Block *block = (Block *)at - 1;
  size_t size = block->size;
  Block **list = failed > 0 ? &kept : &unused[class_of(&size)];
  block->next = *list;
  *list = block;
}

static void *allocate(void *opaque, size_t size) { return fails() ? NULL : get(size); }

static void *allocate_zeroed(void *opaque, size_t n, size_t size) {
  return fails() ? NULL : memset(get(n * size), 0, n * size);
}

static void *reallocate(void *opaque, void *at, size_t size) {
  if (size == 0) {
    release(opaque, at);
    return NULL;
  }
  if (fails()) return NULL;
  if (size <= size_of(at)) return at;
  void *larger = get(size);
  if (at != NULL) memcpy(larger, at, size_of(at));
  release(opaque, at);
  return larger;
}

#define FUNCTION(name) static JSValue name(JSContext *context, JSValueConst self, int argc, JSValueConst *args)

FUNCTION(attempt) {
  counting = 1;
  JSValue result = JS_Call(context, args[0], JS_UNDEFINED, 0, NULL);
  counting = 0;
  if (failed > 0) failing = 0;
  return result;
}

FUNCTION(apart) {
  int was = counting;
  counting = 0;
  JSValue result = JS_Call(context, args[0], JS_UNDEFINED, argc - 1, args + 1);
  counting = was;
  return result;
}

FUNCTION(fail_at) {
  JS_ToInt64(context, &failing, args[0]);
  always = JS_ToBool(context, args[1]);
  count = failed = 0;
  while (kept != NULL) {
    Block *block = kept;
    kept = block->next;
    release(NULL, block + 1);
  }
  return JS_UNDEFINED;
}

FUNCTION(counted) { return JS_NewInt64(context, count); }

FUNCTION(failures) { return JS_NewInt64(context, failed); }

FUNCTION(holds) {
  uint8_t bytes[64];
  size_t length = 0;
  const char *hex = JS_ToCString(context, args[0]);
  while (length < sizeof bytes && sscanf(hex + 2 * length, "%2hhx", &bytes[length]) == 1) length++;
  JS_FreeCString(context, hex);
  return JS_NewBool(context, memmem(heap, used, bytes, length) != NULL);
}

FUNCTION(print) {
  const char *text = JS_ToCString(context, args[0]);
  puts(text);
  fflush(stdout);
  JS_FreeCString(context, text);
  return JS_UNDEFINED;
}

static JSValue check(JSContext *context, JSValue value, const char *path) {
  if (!JS_IsException(value)) return value;
  JSValue error = JS_GetException(context);
  JSValue stack = JS_GetPropertyStr(context, error, "stack");
  fprintf(stderr, "%s: %s\n%s\n", path, JS_ToCString(context, error), JS_ToCString(context, stack));
  exit(1);
}

static JSValue load(JSContext *context, const char *path, int flags) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  fseek(file, 0, SEEK_END);
  size_t length = (size_t)ftell(file);
  rewind(file);
  char *code = malloc(length + 1);
  length = fread(code, 1, length, file);
  code[length] = 0;
  return check(context, JS_Eval(context, code, length, path, flags), path);
}

int main(int argc, char **argv) {
  heap = mmap(NULL, HEAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (heap == MAP_FAILED || argc < 3) return 2;
  JSMallocFunctions functions = {allocate_zeroed, allocate, release, reallocate, size_of};
  JSContext *context = JS_NewContext(JS_NewRuntime2(&functions, NULL));
  JSValue global = JS_GetGlobalObject(context);
  const struct { const char *name; JSCFunction *function; } added[] = {
      {"attempt", attempt}, {"apart", apart},       {"failAt", fail_at}, {"counted", counted},
      {"holds", holds},     {"failures", failures}, {"print", print},
  };
  for (size_t i = 0; i < sizeof added / sizeof *added; i++)
    JS_SetPropertyStr(context, global, added[i].name, JS_NewCFunction(context, added[i].function, added[i].name, 2));
  JSValue module = load(context, argv[1], JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
  JSModuleDef *definition = JS_VALUE_GET_PTR(module);
  check(context, JS_EvalFunction(context, module), argv[1]);
  JS_SetPropertyStr(context, global, "hubProtocol", JS_GetModuleNamespace(context, definition));
  for (int i = 2; i < argc; i++) load(context, argv[i], JS_EVAL_TYPE_GLOBAL);
  _exit(0); /* without freeing what is left */
}
