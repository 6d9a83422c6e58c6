/* What scripts take of Duktape's heap: runs each file in one heap, and prints the bytes live after a collection, and the peak. */
#include <duktape.h>
#include <stdio.h>
#include <stdlib.h>

static size_t live, peak;

/* Each block is preceded by its size. */
static void *resize(void *udata, void *block, duk_size_t size) {
  size_t *old = block == NULL ? NULL : (size_t *)block - 2;
  size_t before = old == NULL ? 0 : *old;
  (void)udata;
  if (size == 0) {
    free(old);
    live -= before;
    return NULL;
  }
  size_t *new = realloc(old, size + 2 * sizeof(size_t));
  if (new == NULL) return NULL;
  *new = size;
  live += size - before;
  if (live > peak) peak = live;
  return new + 2;
}
static void *allocate(void *udata, duk_size_t size) { return resize(udata, NULL, size); }
static void release(void *udata, void *block) { resize(udata, block, 0); }

int main(int count, char **paths) {
  duk_context *heap = duk_create_heap(allocate, resize, release, NULL, NULL);
  size_t bare;
  duk_gc(heap, 0);
  bare = live;
  for (int i = 1; i < count; i++) {
    static char text[1 << 20]; /* not in the heap, as a file in flash is not */
    FILE *file = fopen(paths[i], "rb");
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    peak = live;
    if (duk_peval_lstring(heap, text, length) != 0) {
      fprintf(stderr, "%s: %s\n", paths[i], duk_safe_to_string(heap, -1));
      return 1;
    }
    duk_pop(heap);
    duk_gc(heap, 0);
    duk_gc(heap, 0);
    printf("%zu %zu\n", live - bare, peak - bare);
  }
  return 0;
}
