/** Packets that MQTT forbids, to mosquitto and to the judge's broker: what passes the judge must not fail at a real one. */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { generate } from 'mqtt-packet';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startBroker } from '../../judge/src/mqtt/broker.ts';
import { BASE, CA, closeAll, closeLater, newAccount, PORT } from './broker.ts';

const test = suite('packets that MQTT forbids');
test.after.each(closeAll);

const { username, password } = newAccount();
const topic = `${BASE}/${username}/in`;
const CONNECT = generate({ cmd: 'connect', clientId: username, username, password: Buffer.from(password) });
const PUBLISH = generate({
  cmd: 'publish',
  topic,
  payload: 'x',
  qos: 1,
  messageId: 1,
  retain: false,
  dup: false,
});
const SUBSCRIBE = generate({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos: 1 }] });
const PING = generate({ cmd: 'pingreq' });

/** A packet with another byte at a position, or counted from its end. */
function changed(packet: Buffer, at: number, byte: number): Buffer {
  const copy = Buffer.from(packet);
  copy[at < 0 ? packet.length + at : at] = byte;
  return copy;
}

const FORBIDDEN: { readonly [what: string]: readonly Buffer[] } = {
  'another protocol name': [changed(CONNECT, 7, 0x58)],
  'the reserved flag of CONNECT': [changed(CONNECT, 9, CONNECT[9]! | 1)],
  'a QoS of no will': [changed(CONNECT, 9, CONNECT[9]! | 0x18)],
  'no CONNECT': [PUBLISH],
  'a second CONNECT': [CONNECT, CONNECT],
  'PUBLISH with QoS 3': [CONNECT, changed(PUBLISH, 0, 0x36)],
  'PUBLISH to a wildcard': [CONNECT, changed(PUBLISH, 4, 0x2b)],
  'PUBLISH to what is not UTF-8': [CONNECT, changed(PUBLISH, 4, 0xff)],
  'PUBLISH with packet identifier 0': [CONNECT, changed(PUBLISH, -2, 0)],
  'SUBSCRIBE without its flags': [CONNECT, changed(SUBSCRIBE, 0, 0x80)],
  'SUBSCRIBE with QoS 3': [CONNECT, changed(SUBSCRIBE, -1, 3)],
  'SUBSCRIBE to nothing': [CONNECT, Buffer.of(0x82, 2, 0, 1)],
};

/** Whether a broker ends the connection; it answers a ping if not. */
function isEnded(socket: Socket, packets: readonly Buffer[]): Promise<boolean> {
  closeLater(() => socket.destroy());
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    socket.on('error', () => {}); // `close` follows
    socket.on('close', () => resolve(true));
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      if (received.includes(Buffer.of(0xd0, 0))) resolve(false);
    });
    socket.write(Buffer.concat([...packets, PING]));
  });
}

const mosquitto = (): Socket => connectTls({ port: PORT, host: 'localhost', ca: CA });

/** The judge's broker, and what it says of wrong packets. */
async function judge(): Promise<{ dial: () => Socket; said: string[] }> {
  const said: string[] = [];
  const onWrong = ({ difference }: { difference: { got: string } }): number => said.push(difference.got);
  const broker = await startBroker({ port: 0, admits: () => true, onPeer: () => {}, onWrong });
  closeLater(broker.stop);
  return { dial: () => connectTcp(Number(new URL(broker.url).port), '127.0.0.1'), said };
}

for (const [what, packets] of Object.entries(FORBIDDEN)) {
  test(`${what}: mosquitto ends the connection, and so does the judge, which says why`, async () => {
    assert.ok(await isEnded(mosquitto(), packets));
    const { dial, said } = await judge();
    assert.ok(await isEnded(dial(), packets));
    assert.is(said.length, 1, said.join());
  });
}

test('right packets: mosquitto answers the ping, and so does the judge', async () => {
  const packets = [CONNECT, SUBSCRIBE, PUBLISH];
  assert.not(await isEnded(mosquitto(), packets));
  const { dial, said } = await judge();
  assert.not(await isEnded(dial(), packets));
  assert.equal(said, []);
});

test.run();
