/**
 * The clients of a hub with several processes in PostgreSQL: `serveHub({ clients: await openClients('postgresql://…'), … })`.
 * create table clients (access_key text primary key, psk bytea not null, client_key bytea);
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';

const GET = 'select psk, client_key from clients where access_key = $1';
const PIN = `update clients set client_key = $2 where access_key = $1 and coalesce(client_key, $2) = $2`;

export async function openClients(url) {
  const me = randomUUID();
  const pool = new pg.Pool({ connectionString: url }).on('error', console.error);
  const listener = new pg.Client(url); // without `error`: a process that hears no claims ends, and is started again
  const [claims, newest] = [new Map(), new Set()];
  listener.on('notification', ({ payload }) => {
    const accessKey = payload.slice(me.length);
    if (payload.startsWith(me))
      newest.add(accessKey); // all processes hear all claims in one order
    else if (newest.delete(accessKey)) claims.get(accessKey)();
  });
  await listener.connect();
  await listener.query('listen claims');
  return {
    async get(accessKey) {
      const { rows } = await pool.query(GET, [accessKey]);
      return rows[0] && { psk: rows[0].psk, clientKey: rows[0].client_key ?? undefined };
    },
    async pin(accessKey, clientKey) {
      return (await pool.query(PIN, [accessKey, Buffer.from(clientKey)])).rowCount === 1;
    },
    async claim(accessKey, replace) {
      claims.set(accessKey, replace);
      await pool.query('select pg_notify($1, $2)', ['claims', me + accessKey]);
    },
  };
}
