/** The names of messages on the wire. */

/**
 * Returns the name of a cleartext envelope in the protocol; `undefined` for a transport message.
 * @param data - a WebSocket message or MQTT payload
 */
export function nameOf(data: string | Uint8Array, isFromHub: boolean): string | undefined {
  let envelope: { msg_type?: string; payload?: { noise?: { msg?: string; pattern?: string } } } | null;
  try {
    envelope = JSON.parse(typeof data === 'string' ? data : new TextDecoder().decode(data)); // MQTT: bytes
  } catch {
    return undefined;
  }
  if (envelope?.msg_type === 'hello') return 'HELLO';
  const noise = envelope?.payload?.noise;
  if (noise?.msg === undefined) return 'HANDSHAKE, the offer';
  if (isFromHub) return 'Noise message 2';
  return noise.pattern === undefined ? 'Noise message 3' : `Noise message 1, ${noise.pattern}`;
}
