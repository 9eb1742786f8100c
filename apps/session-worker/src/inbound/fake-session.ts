/** For specs: a session whose network is only the library's own event buffer. */
import type { Fence } from '@dormouse/database';
import type { OpenSession } from '../socket/open-session.js';
import { testEventBuffer, testNetwork } from '../socket/test-network.js';

/** What it has of the library's socket. */
function fakeLibrary(parts: { end: (error: Error | undefined) => void; signalRepository: object; keys: object }) {
  const { end, signalRepository, keys } = parts;
  const authState = { keys, creds: { accountSyncCounter: 1 } };
  return { ev: testEventBuffer(), end, signalRepository, authState };
}

export interface FakeSession extends OpenSession {
  /** Emits what the network brings. */
  readonly library: ReturnType<typeof fakeLibrary>;
  readonly faults: unknown[];
  /** Errors the socket was ended with. */
  readonly ends: (Error | undefined)[];
  /** User part of LIDs to numbers that the key store knows. */
  readonly numbers: Map<string, string>;
  /** Ids of messages that the network kept while the session was away. */
  readonly waited: Set<string>;
  /** Ids of messages whose next receipt of a group is one of playing. */
  readonly played: Set<string>;
  /** Ids of messages that need not be kept for another socket. */
  readonly settled: string[];
  /** Chats that were deleted on the phone, with the moment up to which (epoch seconds). */
  readonly deletions: Map<string, number>;
  /** The same of chats that were read. */
  readonly reads: Map<string, number>;
}

export function fakeSession(channelId: string, fence: Fence, generation = 1): FakeSession {
  const faults: unknown[] = [];
  const ends: (Error | undefined)[] = [];
  const numbers = new Map<string, string>();
  const waited = new Set<string>();
  const played = new Set<string>();
  const settled: string[] = [];
  const deletions = new Map<string, number>();
  const reads = new Map<string, number>();
  const lidMapping = {
    getPNsForLIDs: (lids: string[]) =>
      Promise.resolve(
        lids.flatMap((lid) => {
          const number = numbers.get(lid.slice(0, lid.search(/[:@]/)));
          return number === undefined ? [] : [{ lid, pn: `${number}:0@s.whatsapp.net` }];
        }),
      ),
  };
  const keys = {
    get: (_type: string, ids: string[]) => {
      const lids = [...numbers].filter(([, number]) => ids.includes(number)).map(([lid, number]) => [number, lid]);
      return Promise.resolve(Object.fromEntries(lids) as Record<string, string>);
    },
  };
  const end = (error: Error | undefined) => void ends.push(error);
  const library = fakeLibrary({ end, signalRepository: { lidMapping }, keys });
  return {
    channelId,
    fence,
    generation,
    network: testNetwork(library),
    library,
    identity: { phone: '15550009999', lid: '900000000009', deviceId: 7, pushName: 'Example Shop' },
    holdCiphertext: () => () => undefined,
    expectAck: () => Promise.reject(new Error('nothing is sent here')),
    awaitsAck: () => false,
    group: () => Promise.reject(new Error('no group is queried here')),
    hasWaited: ({ key }) => waited.has(key.id ?? ''),
    settle: (messages) => settled.push(...messages.flatMap(({ key }) => key.id ?? [])),
    forgetSettled: () => Promise.resolve(),
    takePlayed: ({ id }) => played.delete(id ?? ''),
    deletedUntilS: (jid) => deletions.get(jid),
    readUntilS: (jid) => reads.get(jid),
    reportFault: (error) => faults.push(error),
    faults,
    ends,
    numbers,
    waited,
    settled,
    played,
    deletions,
    reads,
  };
}
