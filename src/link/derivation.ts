/** The one derivation that a link has under way, and its result until a hub has proved or refused it. */
import { type Bytes, copyBytes, isBytes, wipe } from '../bytes.ts';
import { KEY_LENGTH } from '../limits.ts';
import type { PskNeededEvent } from '../session/events.ts';
import type { Order } from './orders.ts';

export class Derivation {
  /** How many there were. */
  private number = 0;
  /** The hub that it is for; `undefined` if there is none. */
  private nodeId: string | undefined = undefined;
  private psk: Bytes | undefined = undefined;
  private readonly order: (order: Order) => void;

  constructor(order: (order: Order) => void) {
    this.order = order;
  }

  /** Returns the PSK of a hub, 32 bytes. If it is not there, orders to derive it, unless that is under way. */
  pskFor({ nodeId, salt }: PskNeededEvent): Bytes | undefined {
    if (this.nodeId !== nodeId) {
      this.forget();
      this.nodeId = nodeId;
      this.order({ do: 'derive', derivation: ++this.number, nodeId, salt });
    }
    return this.psk;
  }

  /**
   * Takes the answer to an order.
   * @returns the PSK, 32 bytes; `undefined` if there is none, which the next hub orders again; `false` if nobody waits for it
   */
  take(number: number, psk: unknown): Bytes | undefined | false {
    if (number !== this.number || this.nodeId === undefined || this.psk !== undefined) return false;
    if (isBytes(psk) && psk.length === KEY_LENGTH) this.psk = copyBytes(psk);
    else this.nodeId = undefined;
    return this.psk;
  }

  /** Forgets the PSK, or stops the derivation. */
  forget(): void {
    const { nodeId, psk } = this;
    this.nodeId = this.psk = undefined;
    if (psk !== undefined) wipe(psk);
    else if (nodeId !== undefined) this.order({ do: 'stop-deriving' });
  }
}
