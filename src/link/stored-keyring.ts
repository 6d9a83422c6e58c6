/** The keyring of a link: as it is stored, what is being stored, and what is still to be stored. */
import type { Keyring } from '../keyring/keyring.ts';
import { serializeKeyring } from '../keyring/keyring-text.ts';
import type { Update } from './events.ts';
import type { Order } from './orders.ts';

export class StoredKeyring {
  /** As last stored. */
  kept: Keyring;
  /** Changes of a person that are not stored yet. */
  private changes: Update[] = [];
  private storing: Keyring | undefined = undefined;
  private isNeeded = false;
  /** Whether the next connection may begin: what others have stored was read for it. */
  private isRead = false;
  /** Whether the fact that a hub has accepted the static key could not be stored on this connection. */
  private staysFresh = false;
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
    this.isRead = !this.isRead && this.store(this.changes, true, this.isShared);
    if (this.isRead) return true;
    this.staysFresh = false;
    return false;
  }

  /** Stores that a hub has accepted the static key. Nothing depends on it, and it is not tried twice on a connection. */
  accept(update: Update): void {
    if (!this.staysFresh) this.store([update], false);
  }

  /**
   * Orders to store the keyring, if these updates change what is stored.
   * @param isNeeded - whether what follows depends on it
   * @param isRead - whether to order it even if they change nothing, since the answer says what is stored
   * @returns whether it is ordered
   */
  store(updates: readonly Update[], isNeeded = true, isRead = false): boolean {
    const change = (stored: Keyring): Keyring => {
      let changed = stored;
      for (let i = 0; i < updates.length; i++) changed = updates[i]!(changed);
      return changed;
    };
    const keyring = change(this.kept);
    if (!isRead && isSame(keyring, this.kept)) {
      this.kept = keyring; // that a PSK is suspect is not stored
      return false;
    }
    this.order({ do: 'store', keyring, change });
    this.storing = keyring;
    this.isNeeded = isNeeded;
    return true;
  }

  /**
   * The store has answered.
   * @param keyring - what is stored now
   * @returns whether that was a failure which ends what depends on it
   */
  stored(error: unknown, keyring: Keyring | undefined): boolean {
    const { storing } = this;
    this.storing = undefined;
    if (storing === undefined) return false;
    if (error === undefined) {
      this.kept = keyring === undefined || isSame(keyring, storing) ? storing : keyring;
      this.changes = [];
    } else if (this.isNeeded) this.isRead = false;
    else this.staysFresh = true;
    return error !== undefined && this.isNeeded;
  }
}

/** Whether two keyrings are stored as the same text. */
function isSame(one: Keyring, other: Keyring): boolean {
  return one === other || serializeKeyring(one) === serializeKeyring(other);
}
