/** The part of a keyring that may be shown. */
import { bytesToHex, type Keyring, nodeCrypto } from 'hub-protocol-judge/internals';
import { shown } from './shown.ts';

export interface KeyringSummary {
  /** The client's static public key, in hex, which hubs pin. */
  readonly client_key: string;
  readonly static_key_is_fresh: boolean;
  readonly pins: readonly { readonly node_id: string; readonly key: string }[];
  readonly psks: readonly { readonly node_id: string; readonly is_provisioned: boolean }[];
}

export function summarize({ staticKey, staticKeyIsFresh, pins, psks }: Keyring): KeyringSummary {
  const { publicKey, privateKey } = staticKey;
  const clientKey = publicKey ?? nodeCrypto.x25519.publicKey(privateKey!);
  return {
    client_key: bytesToHex(clientKey),
    static_key_is_fresh: staticKeyIsFresh,
    pins: pins.map(({ nodeId, key }) => ({ node_id: nodeId, key: bytesToHex(key) })),
    psks: psks.map(({ nodeId, isProvisioned }) => ({ node_id: nodeId, is_provisioned: isProvisioned })),
  };
}

export function summaryToText(summary: KeyringSummary): string {
  const { client_key, static_key_is_fresh, pins, psks } = summary;
  const lines = [
    `client key  ${client_key}  (public; ${static_key_is_fresh ? 'no hub has accepted it yet' : 'accepted by a hub'})`,
    ...pins.map(({ node_id, key }) => `pin         ${key}  of ${shown(node_id)}`),
    ...psks.map(
      ({ node_id, is_provisioned }) =>
        `PSK         [redacted], ${is_provisioned ? 'provisioned' : 'derived'}, for ${shown(node_id)}`,
    ),
  ];
  if (pins.length === 0)
    lines.push('pins        none: the client trusts each hub that knows the password, at first contact');
  if (psks.length === 0) lines.push('PSKs        none: the client derives them from the password');
  return `${lines.join('\n')}\n`;
}
