import type { Account, Device } from './account.js';

/** Who is available and who subscribed to it. Nothing of this outlives the process. */
export class PresenceRecords {
  /** Devices that subscribed to a person (by private id), with the address they used. */
  private readonly watchers = new Map<string, Map<Device, string>>();
  private readonly phonesAvailable = new Set<string>();
  private readonly lastSeen = new Map<string, number>();
  private readonly announced = new Map<string, boolean>();

  watch(account: Account, device: Device, jid: string): void {
    const watchers = this.watchers.get(account.lid) ?? new Map<Device, string>();
    this.watchers.set(account.lid, watchers.set(device, jid));
  }

  watchersOf(account: Account): Iterable<[Device, string]> {
    return this.watchers.get(account.lid) ?? [];
  }

  setPhone(account: Account, available: boolean): void {
    if (available) this.phonesAvailable.add(account.lid);
    else this.phonesAvailable.delete(account.lid);
  }

  isAvailable(account: Account): boolean {
    if (this.phonesAvailable.has(account.lid)) return true;
    return [...account.devices.values()].some(({ connection }) => connection?.available);
  }

  /** Notes what a person's devices add up to now; returns the new state when it differs from the last one noted. */
  update(account: Account, nowSeconds: number): 'available' | 'unavailable' | undefined {
    const available = this.isAvailable(account);
    if (this.announced.get(account.lid) === available) return undefined;
    this.announced.set(account.lid, available);
    if (!available) this.lastSeen.set(account.lid, nowSeconds);
    return available ? 'available' : 'unavailable';
  }

  /** When the person was last available, in seconds since 1970. */
  lastSeenOf(account: Account): number | undefined {
    return this.lastSeen.get(account.lid);
  }
}
