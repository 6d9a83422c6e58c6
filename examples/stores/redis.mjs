/**
 * The clients of a hub with several processes in Redis: `serveHub({ clients: await openClients('redis://…'), … })`. Each client is a hash,
 * `client:<access key>`, with the field `psk`, and `key` since first contact, in hex.
 */
import { randomUUID } from 'node:crypto';
import { createClient } from 'redis';

const PIN = `
  if redis.call('HEXISTS', KEYS[1], 'psk') == 0 then return 0 end
  redis.call('HSETNX', KEYS[1], 'key', ARGV[1])
  return redis.call('HGET', KEYS[1], 'key') == ARGV[1] and 1 or 0`;

export async function openClients(url) {
  const me = randomUUID();
  const redis = createClient({ url, disableOfflineQueue: true }); // if Redis is gone, clients are told at once
  const listener = redis.duplicate();
  for (const each of [redis, listener]) await each.on('error', console.error).connect();
  const [claims, newest] = [new Map(), new Set()];
  await listener.subscribe('claims', (claim) => {
    const accessKey = claim.slice(me.length);
    if (claim.startsWith(me))
      newest.add(accessKey); // all processes hear all claims in one order
    else if (newest.delete(accessKey)) claims.get(accessKey)();
  });
  return {
    async get(accessKey) {
      const { psk, key } = await redis.hGetAll(`client:${accessKey}`);
      return psk && { psk: Buffer.from(psk, 'hex'), clientKey: key && Buffer.from(key, 'hex') };
    },
    async pin(accessKey, clientKey) {
      const key = Buffer.from(clientKey).toString('hex');
      return (await redis.eval(PIN, { keys: [`client:${accessKey}`], arguments: [key] })) === 1;
    },
    async claim(accessKey, replace) {
      claims.set(accessKey, replace);
      await redis.publish('claims', me + accessKey);
    },
  };
}
