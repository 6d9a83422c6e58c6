/** The header of --c, compiled and used: HKDF, ChaCha20-Poly1305 and a handshake of each pattern, with libsodium from Debian. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cHeader } from '../../judge/src/c-header.ts';

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Noise over libsodium, which writes and reads every handshake of the header as its initiator. */
const PROGRAM = `
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include "vectors.h"
typedef unsigned char u8;
static u8 h[32], ck[32], k[32]; static unsigned long long n;
static void hash2(u8 out[32], const u8 *a, size_t al, const u8 *b, size_t bl) {
  crypto_hash_sha256_state s; crypto_hash_sha256_init(&s);
  crypto_hash_sha256_update(&s, a, al); crypto_hash_sha256_update(&s, b, bl); crypto_hash_sha256_final(&s, out); }
static void mix_hash(const u8 *d, size_t l) { hash2(h, h, 32, d, l); }
static void hmac(u8 out[32], const u8 key[32], const u8 *d, size_t l, int number) {
  crypto_auth_hmacsha256_state s; u8 last = (u8)number; crypto_auth_hmacsha256_init(&s, key, 32);
  crypto_auth_hmacsha256_update(&s, d, l); if (number) crypto_auth_hmacsha256_update(&s, &last, 1);
  crypto_auth_hmacsha256_final(&s, out); }
static void hkdf(const u8 *d, size_t l, u8 o[3][32]) {
  u8 t[32]; hmac(t, ck, d, l, 0); hmac(o[0], t, 0, 0, 1); hmac(o[1], t, o[0], 32, 2); hmac(o[2], t, o[1], 32, 3); }
static void mix_key(const u8 *d, size_t l) { u8 o[3][32]; hkdf(d, l, o); memcpy(ck, o[0], 32); memcpy(k, o[1], 32); n = 0; }
static void mix_psk(const u8 *d) { u8 o[3][32]; hkdf(d, 32, o); memcpy(ck, o[0], 32); mix_hash(o[1], 32); memcpy(k, o[2], 32); n = 0; }
static void seal(u8 *out, const u8 *p, size_t l, const u8 *ad, size_t al, const u8 *key, unsigned long long counter) {
  u8 nonce[12] = {0}; unsigned long long length; int i;
  for (i = 0; i < 8; i++) nonce[4 + i] = (u8)(counter >> 8 * i);
  crypto_aead_chacha20poly1305_ietf_encrypt(out, &length, p, l, ad, al, 0, nonce, key); }
static size_t put(u8 *out, const u8 *p, size_t l) { seal(out, p, l, h, 32, k, n++); mix_hash(out, l + 16); return l + 16; }
static void dh(const hp_bytes *secret, const hp_bytes *other) {
  u8 shared[32], public[32]; crypto_scalarmult_base(public, other->data);
  if (crypto_scalarmult(shared, secret->data, public) != 0) printf("zero\\n");
  mix_key(shared, 32); }
/* Computes both sides at once: the keys are known, so each token is the same for both. */
static int handshake(const hp_handshake *v) {
  static const char *xx[] = {"e", "e,ee,s,es,psk", "s,se"}, *kk[] = {"psk,e,es,ss", "e,ee,se"};
  char name[64]; size_t i; int is_kk = v->pattern[0] == 'K';
  snprintf(name, sizeof name, "Noise_%s_%s", v->pattern, v->suite);
  if (strlen(name) <= 32) { memset(h, 0, 32); memcpy(h, name, strlen(name)); } else crypto_hash_sha256(h, (u8 *)name, strlen(name));
  memcpy(ck, h, 32); mix_hash(v->prologue.data, v->prologue.length);
  if (is_kk) { mix_hash(v->init_static_public.data, 32); mix_hash(v->resp_static_public.data, 32); }
  for (i = 0; i < v->message_count; i++) {
    u8 out[5000], public[32]; size_t at = 0; char tokens[32], *token; int init = i % 2 == 0;
    const hp_bytes *e = init ? &v->init_ephemeral : &v->resp_ephemeral;
    strcpy(tokens, is_kk ? kk[i] : xx[i]);
    for (token = strtok(tokens, ","); token; token = strtok(0, ",")) {
      if (!strcmp(token, "e")) { crypto_scalarmult_base(public, e->data); memcpy(out, public, 32); at = 32; mix_hash(public, 32); mix_key(public, 32); }
      else if (!strcmp(token, "s")) at += put(out + at, init ? v->init_static_public.data : v->resp_static_public.data, 32);
      else if (!strcmp(token, "psk")) mix_psk(v->psk.data);
      else dh(token[0] == 'e' ? &v->init_ephemeral : &v->init_static, token[1] == 'e' ? &v->resp_ephemeral : &v->resp_static);
    }
    at += put(out + at, v->messages[i].payload.data, v->messages[i].payload.length);
    if (at != v->messages[i].message.length || memcmp(out, v->messages[i].message.data, at)) return 0;
  }
  return memcmp(h, v->handshake_hash.data, 32) == 0;
}
int main(void) {
  size_t i, j; int handshakes = 0, sealed = 0;
  if (sodium_init() < 0) return 1;
  for (i = 0; i < HP_COUNT(hp_handshake_vectors); i++) {
    const hp_handshake *v = &hp_handshake_vectors[i];
    if (strcmp(v->suite, HP_SUITE_CHACHAPOLY)) continue;
    if (!handshake(v)) { printf("handshake %d\\n", v->id); return 1; }
    handshakes++;
  }
  for (i = 0; i < HP_COUNT(hp_sealed_vectors); i++) {
    const hp_sealed *v = &hp_sealed_vectors[i]; u8 out[70000];
    if (strcmp(v->suite, HP_SUITE_CHACHAPOLY)) continue;
    for (j = 0; j < v->count; j++) {
      seal(out, v->messages[j].payload.data, v->messages[j].payload.length, 0, 0, v->key.data, v->counter + j);
      if (memcmp(out, v->messages[j].message.data, v->messages[j].message.length)) { printf("sealed %d\\n", v->id); return 1; }
      sealed++;
    }
  }
  for (i = 0; i < HP_COUNT(hp_psk_vectors); i++) {
    u8 salt[32]; crypto_hash_sha256(salt, hp_psk_vectors[i].node_id.data, hp_psk_vectors[i].node_id.length);
    if (memcmp(salt, hp_psk_vectors[i].salt.data, 32)) { printf("salt %d\\n", hp_psk_vectors[i].id); return 1; }
  }
  printf("%d handshakes, %d sealed, %d sessions, %d splits\\n", handshakes, sealed, (int)HP_COUNT(hp_session_vectors), (int)HP_COUNT(hp_split_vectors));
  return 0;
}
`;

test('the header compiles, and libsodium agrees with its handshakes, sealed messages and salts', () => {
  execFileSync('bash', [
    root('tools/need'),
    'libsodium-dev gcc libc6-dev',
    'test',
    '-e',
    '/usr/include/sodium.h',
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'judge-c-'));
  try {
    writeFileSync(join(folder, 'vectors.h'), cHeader('test'));
    writeFileSync(join(folder, 'main.c'), PROGRAM);
    const program = join(folder, 'main');
    const warnings = ['-Wall', '-Wextra', '-Werror'];
    execFileSync('gcc', ['-std=c99', ...warnings, '-O1', '-o', program, join(folder, 'main.c'), '-lsodium']);
    const said = execFileSync(program, { encoding: 'utf8' });
    const [handshakes, sealed, sessions, splits] = said.match(/\d+/g)!.map(Number) as number[];
    assert.ok(handshakes! > 5 && sealed! > 10 && splits! > 10, said);
    assert.is(sessions, 20);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();
