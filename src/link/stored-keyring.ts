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
  /** Whether the fact that a hub has accepted the static key could not be stored on this connection. */
  private staysFresh = false;
  private readonly order: (order: Order) => void;

  constructor(keyring: Keyring, order: (order: Order) => void) {
    this.kept = keyring;
    this.order = order;
  }

  /** Whether a keyring is being stored. */
  get isBusy(): boolean {
    return this.storing !== undefined;
  }

  /** A person has changed the keyring. */
  change(update: Update): void {
    this.changes.push(update);
  }

  /** Forgets what a person has changed and was not stored. */
  dropChanges(): void {
    this.changes = [];
  }

  /** A connection begins. Returns whether what a person has changed must be stored first. */
  begin(): boolean {
    if (this.store(this.changes)) return true;
    this.changes = [];
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
   * @returns whether they do
   */
  store(updates: readonly Update[], isNeeded = true): boolean {
    const change = (stored: Keyring): Keyring => {
      let changed = stored;
      for (let i = 0; i < updates.length; i++) changed = updates[i]!(changed);
      return changed;
    };
    const keyring = change(this.kept);
    if (keyring === this.kept) return false;
    if (serializeKeyring(keyring) === serializeKeyring(this.kept)) {
      this.kept = keyring; // that a PSK is suspect is not stored
      return false;
    }
    this.storing = keyring;
    this.isNeeded = isNeeded;
    this.order({ do: 'store', keyring, change });
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
      this.kept = keyring ?? storing;
      this.changes = [];
    } else if (!this.isNeeded) this.staysFresh = true;
    return error !== undefined && this.isNeeded;
  }
}
