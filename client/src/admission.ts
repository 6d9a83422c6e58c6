/** Who may be connected to a hub, sans I/O. Connections that are not ready prove nothing, and give way to others. */

/** A connection of a known client, as far as admission needs it. */
export interface Guest {
  readonly accessKey: string;
  /** Whether nothing has come from it. */
  readonly isSilent: boolean;
  /** Others of its access key are not ready either: it has little time for its first message. */
  hurry(): void;
  /** Another one takes its place. */
  giveWay(): void;
  /** A newer one of its access key is ready. */
  replace(): void;
}

/** What the connections of a hub may be. */
export interface AdmissionLimits {
  readonly maxConnections: number;
  /** The most of one access key that are not ready. */
  readonly maxConnectionsPerKey: number;
}

export class Admission {
  readonly #limits: AdmissionLimits;
  /** By access key, the oldest first. */
  readonly #unready = new Map<string, Set<Guest>>();
  /** Whoever is ready has proved the password: the newest counts. */
  readonly #ready = new Map<string, Guest>();
  #unreadyCount = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** How many connections there are. */
  get counts(): { ready: number; unready: number } {
    return { ready: this.#ready.size, unready: this.#unreadyCount };
  }

  get #isFull(): boolean {
    return this.#unreadyCount + this.#ready.size >= this.#limits.maxConnections;
  }

  /** Whether there is a place: a free one, one of somebody who is not ready, or its own earlier one. */
  hasPlace(accessKey: string): boolean {
    return !this.#isFull || this.#unreadyCount > 0 || this.#ready.has(accessKey);
  }

  /** Takes a place. The oldest silent connection gives way: of this access key, or else of the one that has most. */
  enter(guest: Guest): void {
    const own = this.#unready.get(guest.accessKey) ?? new Set();
    if (own.size >= this.#limits.maxConnectionsPerKey) this.#clear(own);
    else if (this.#isFull) {
      let most: Set<Guest> = own;
      for (const party of this.#unready.values()) if (party.size > most.size) most = party;
      this.#clear(most);
    }
    this.#unready.set(guest.accessKey, own.add(guest));
    this.#unreadyCount++;
    if (own.size > 1) for (const each of own) each.hurry();
  }

  #clear(party: Set<Guest>): void {
    const guests = [...party];
    const guest = guests.find(({ isSilent }) => isSilent) ?? guests[0];
    if (guest === undefined) return;
    this.leave(guest);
    guest.giveWay();
  }

  /** A connection is ready, and replaces an older one of its access key. */
  ready(guest: Guest): void {
    this.leave(guest);
    const older = this.#ready.get(guest.accessKey);
    this.#ready.set(guest.accessKey, guest);
    older?.replace();
  }

  /** An access key is ready in another process. */
  replace(accessKey: string): void {
    this.#ready.get(accessKey)?.replace();
  }

  /** A connection has ended. */
  leave(guest: Guest): void {
    const { accessKey } = guest;
    if (this.#ready.get(accessKey) === guest) this.#ready.delete(accessKey);
    const party = this.#unready.get(accessKey);
    if (!party?.delete(guest)) return;
    this.#unreadyCount--;
    if (party.size === 0) this.#unready.delete(accessKey);
  }
}
