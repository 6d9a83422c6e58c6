/** The client and the example hub over WebSocket, without TLS, so that faults reach the protocol. */
import { parseIdentity } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { connect } from 'hub-protocol-client';
import { serveHub } from 'hub-protocol-client/hub';
import { NODE_ID, PSK, type World } from './trial.ts';

export async function startWebSocketWorld(): Promise<World> {
  const heard: string[] = [];
  const clients = new Map<string, { psk: Uint8Array }>();
  const answer = (utterance: string): string => {
    heard.push(utterance);
    return `You said: ${utterance}`;
  };
  const hub = await serveHub({ nodeId: NODE_ID, staticKey: randomBytes(32), clients, answer });
  return {
    name: 'WebSocket',
    port: Number(new URL(hub.url).port),
    heard,
    admit() {
      const accessKey = `kiosk-${clients.size}`.padEnd(12, '-');
      clients.set(accessKey, { psk: PSK });
      return accessKey;
    },
    start(access_key, port, options) {
      const wss = `ws://localhost:${port}`;
      const issued = { access_key, password: 'secret', site_id: 'lobby', data_plane_endpoints: { wss } };
      return connect({ ...options, identity: parseIdentity(issued) });
    },
    stop: () => hub.stop(),
  };
}
