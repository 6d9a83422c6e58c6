/** The one derivation that a link has under way, and its result until a hub has proved or refused it. */
import { type Bytes, copyBytes, isBytesOf, wipe } from '../bytes.ts';
import { KEY_LENGTH } from '../limits.ts';
import type { PskNeededEvent } from '../session/events.ts';
import type { Order } from './orders.ts';

export class Derivation {
  /** How many there were. */
  private number = 0;
  /** The hub that it is for; `undefined` if there is none. */
  private nodeId: string | undefined = undefined;
  psk: Bytes | undefined = undefined;
  private readonly order: (order: Order) => void;

  constructor(order: (order: Order) => void) {
    this.order = order;
  }

  /** Returns the PSK of a hub, 32 bytes. If it is not there, orders to derive it, unless that is under way. */
  pskFor({ nodeId, salt }: PskNeededEvent): Bytes | undefined {
    if (this.nodeId !== nodeId) {
      this.forget();
      this.order({ do: 'derive', derivation: ++this.number, nodeId, salt });
      this.nodeId = nodeId;
    }
    return this.psk;
  }

  /**
   * Takes the answer to an order.
   * @returns the PSK, 32 bytes; `undefined` if there is none, which the next hub orders again; `false` if nobody waits for it
   */
  take(number: number, psk: unknown): Bytes | undefined | false {
    const { nodeId } = this;
    if (number !== this.number || nodeId === undefined || this.psk !== undefined) return false;
    if (isBytesOf(psk, KEY_LENGTH)) this.psk = copyBytes(psk);
    else this.nodeId = undefined;
    return this.psk;
  }

  /** Forgets the PSK, or stops the derivation. */
  forget(): void {
    if (this.psk !== undefined) wipe(this.psk);
    else if (this.nodeId !== undefined) this.order({ do: 'stop-deriving' });
    this.nodeId = this.psk = undefined;
  }
}
