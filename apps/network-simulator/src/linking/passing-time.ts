import type { Network } from '../network/network.js';
import { unlink } from './pairing.js';

const DAY_MS = 86_400_000;
/** Linked devices are logged out when their phone was not used for longer (faq.whatsapp.com/378279804439436). */
export const PHONE_UNUSED_MS = 14 * DAY_MS;
/** A linked device is logged out when it was not connected for longer (the same page). */
export const DEVICE_ABSENT_MS = 30 * DAY_MS;
/** How long the host has a file; then its phone must upload it again. */
export const FILE_AGE_MS = 14 * DAY_MS;

/** What moving the clock did. */
export interface PassedTime {
  /** Devices that were logged out: nobody used the phone, or they were away too long. */
  unlinked: { phone: string; device: number }[];
  /** Files that the host does not have any more. */
  expiredFiles: number;
}

/** Moves the network's clock forward, and does what the network does in that time. */
export function passTime(network: Network, ms: number, { phonesUsed }: { phonesUsed: boolean }): PassedTime {
  network.clock.move(ms);
  const now = network.now();
  const unlinked: PassedTime['unlinked'] = [];
  for (const account of network.accounts.all()) {
    if (phonesUsed) account.state.phoneUsedAtMs = now;
    const phoneUnused = now - account.phoneUsedAtMs > PHONE_UNUSED_MS;
    for (const device of [...account.devices.values()]) {
      const { linkedAtMs, seenAtMs = linkedAtMs } = device.state;
      if (!phoneUnused && (device.online || now - seenAtMs <= DEVICE_ABSENT_MS)) continue;
      unlink(network, device);
      unlinked.push({ phone: account.phone, device: device.id });
    }
  }
  return { unlinked, expiredFiles: network.media.expireBefore(now - FILE_AGE_MS, 410) };
}
