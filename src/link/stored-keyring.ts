/** The keyring of a link: as it is stored, what is being stored, and what is still to be stored. */
import { bytesToHex } from '../bytes.ts';
import { type Keyring, updateKeyring } from '../keyring/keyring.ts';
import type { Update } from './events.ts';
import type { Order, StoreOrder } from './orders.ts';

export class StoredKeyring {
  /** As last stored. Only which keys are fresh or suspect may be known here alone, since it could not be stored. */
  kept: Keyring;
  /** Changes of a person that are not stored yet. */
  private changes: Update[] = [];
  private storing: StoreOrder | undefined = undefined;
  private isNeeded = false;
  /** Whether the next connection may begin: what others have stored was read for it. */
  private isRead = false;
  private readonly isShared: boolean;
  private readonly order: (order: Order) => void;

  /** @param isShared - whether others write to the same store */
  constructor(keyring: Keyring, isShared: boolean, order: (order: Order) => void) {
    this.kept = keyring;
    this.isShared = isShared;
    this.order = order;
  }

  /** Whether a keyring is being stored. */
  get isBusy(): boolean {
    return this.storing !== undefined;
  }

  /** A person has changed the keyring. */
  change(update: Update): void {
    this.changes.push(update);
    this.isRead = false;
  }

  /** Forgets what a person has changed and was not stored. */
  dropChanges(): void {
    this.changes = [];
  }

  /**
   * A connection begins. Returns whether what a person has changed must be stored first, or what others have stored must be
   * read.
   */
  begin(): boolean {
    this.isRead = !this.isRead && this.store(this.changes, this.isShared);
    return this.isRead;
  }

  /**
   * Orders to store the keyring, if these updates change what is stored.
   * @param isRead - whether to order it even if they change nothing, since the answer says what is stored
   * @returns whether it is ordered
   */
  store(updates: readonly Update[], isRead = false): boolean {
    const { kept } = this;
    const change = (stored: Keyring): Keyring => {
      let changed = stored;
      for (let i = 0; i < updates.length; i++) changed = updates[i]!(changed);
      return changed;
    };
    const keyring = change(kept);
    if (!isRead && keyring === kept) return false;
    this.storing = { do: 'store', keyring, change };
    this.order(this.storing);
    // Nothing depends on which keys are fresh or suspect.
    this.isNeeded = updates === this.changes || keysIn(keyring) !== keysIn(kept);
    return true;
  }

  /**
   * The store has answered.
   * @param keyring - what is stored now
   * @returns whether that was a failure which ends what depends on it
   */
  stored(error: unknown, keyring: Keyring | undefined): boolean {
    const { storing, isNeeded, kept } = this;
    this.storing = undefined;
    if (storing === undefined) return false;
    if (error === undefined) {
      this.kept = keyring ?? storing.keyring;
      // That a pin is suspect may be known here alone, since it could not be stored.
      if (this.isRead && keysIn(this.kept) === keysIn(kept)) {
        for (let i = 0; i < kept.pins.length; i++) {
          const { nodeId, isSuspect } = kept.pins[i]!;
          if (isSuspect) this.kept = updateKeyring(this.kept, { type: 'pin-suspect', nodeId });
        }
      }
      this.changes = [];
    } else if (isNeeded) this.isRead = false;
    else this.kept = storing.keyring;
    return error !== undefined && isNeeded;
  }
}

/** The pins and the PSKs, whether or not they are suspect. */
function keysIn({ pins, psks }: Keyring): string {
  return String(pins.concat(psks).map(({ nodeId, key }) => nodeId + bytesToHex(key)));
}
