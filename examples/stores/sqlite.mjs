/**
 * The clients of a hub in a file of SQLite, for the processes of one machine, with Node.js 24: `serveHub({ clients: openClients('hub.db'), … })`.
 * create table clients (access_key text primary key, psk blob not null, client_key blob);
 */
import { DatabaseSync } from 'node:sqlite';

export function openClients(path) {
  const database = new DatabaseSync(path, { timeout: 4000 }); // for other processes, in milliseconds
  const get = database.prepare('select psk, client_key from clients where access_key = ?');
  const pin = database.prepare(
    'update clients set client_key = ?1 where access_key = ?2 and coalesce(client_key, ?1) = ?1',
  );
  return {
    get(accessKey) {
      const row = get.get(accessKey);
      return row && { psk: row.psk, clientKey: row.client_key ?? undefined };
    },
    pin: (accessKey, clientKey) => pin.run(clientKey, accessKey).changes === 1,
  };
}
