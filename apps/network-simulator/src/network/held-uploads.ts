import type { Place } from './faults.js';
import type { Network } from './network.js';

/** Uploads that a fault holds back, by the fault's id. */
const held = new Map<string, (() => void)[]>();

/** Resumes uploads that waited while a fault was in force. */
export function releaseUploads(faultId: string): void {
  const waiting = held.get(faultId) ?? [];
  held.delete(faultId);
  for (const goOn of waiting) goOn();
}

/** Resolves at once, or when the fault that holds uploads back is removed. */
export async function passHeldUploads({ faults }: Network, place: Place): Promise<void> {
  const hold = faults.find('hold-uploads', place);
  if (!hold) return;
  hold.waiting = (hold.waiting ?? 0) + 1;
  await new Promise<void>((goOn) => held.set(hold.id, [...(held.get(hold.id) ?? []), goOn]));
}
