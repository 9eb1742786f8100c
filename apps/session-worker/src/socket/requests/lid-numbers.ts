import { jidDecode, type WASocket } from '@whiskeysockets/baileys';

/**
 * The numbers behind LIDs, as far as this device has learnt them. Reads the key store, never queries the network.
 * @param lids `@lid` addresses, with or without device
 * @returns user part of the LID to digits of the number
 */
export async function numbersOfLids(
  socket: Pick<WASocket, 'signalRepository'>,
  lids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const numbers = new Map<string, string>();
  if (lids.length === 0) return numbers;
  const pairs = await socket.signalRepository.lidMapping.getPNsForLIDs([...new Set(lids)]);
  for (const { lid, pn } of pairs ?? []) {
    const [from, to] = [jidDecode(lid), jidDecode(pn)];
    if (from && to) numbers.set(from.user, to.user);
  }
  return numbers;
}

/** The LID of a number, as far as this device has learnt it. The library's own look-up would query the network. */
export async function lidOfNumber(socket: Pick<WASocket, 'authState'>, digits: string): Promise<string | undefined> {
  const stored = await socket.authState.keys.get('lid-mapping', [digits]);
  return stored[digits];
}
