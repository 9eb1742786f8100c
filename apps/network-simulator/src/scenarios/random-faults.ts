import { setTimeout } from 'node:timers/promises';
import { releaseAcks } from '../network/acknowledge.js';
import type { Fault } from '../faults/faults.js';
import { node } from '../wire/node.js';
import type { Simulator } from '../simulator.js';
import type { Person, RandomPeople } from './random-people.js';

const HELD_MS = 300;
const SILENT_MS = 800;

type Misfortune = (simulator: Simulator, people: RandomPeople, person: Person) => Promise<void> | void;

const once =
  (fault: Omit<Fault, 'id' | 'phone'>): Misfortune =>
  ({ network }, _people, { phone }) =>
    void network.faults.add({ count: 1, ...fault, phone: phone.account.phone });

/** All that happens to messages and lines in a random run, each as likely as the others. */
const misfortunes: Record<string, Misfortune> = {
  'corrupt-message': once({ kind: 'corrupt-message' }),
  'duplicate-message': once({ kind: 'duplicate-message' }),
  // A phone has nobody to fill a placeholder for it.
  placeholder: ({ network }, _people, { phone: { account } }) => {
    for (const device of account.devices.keys()) {
      network.faults.add({ kind: 'placeholder', phone: account.phone, device, count: 1 });
    }
  },
  'lose-receipts': once({ kind: 'lose-receipts', count: 3 }),
  delay: once({ kind: 'delay', ms: 20, jitterMs: 30, count: 20 }),
  'delay-acks': once({ kind: 'delay-acks', ms: 100, count: 3 }),
  'refuse-send 463': once({ kind: 'refuse-send', code: 463 }),
  'refuse-send 479': once({ kind: 'refuse-send', code: 479 }),
  'refuse-iq': once({ kind: 'refuse-iq', xmlns: 'usync', code: 503 }),
  'refuse-upload': ({ network }) => void network.faults.add({ kind: 'refuse-upload', code: 503, count: 1 }),
  'slow-media': ({ network }) => void network.faults.add({ kind: 'slow-media', ms: 20, count: 1 }),
  'break-media': ({ network }) => void network.faults.add({ kind: 'break-media', count: 1 }),
  'hold-acks': async ({ network }, _people, { phone }) => {
    const held: Fault = network.faults.add({ kind: 'hold-acks', phone: phone.account.phone }, () =>
      releaseAcks(held.id),
    );
    await setTimeout(HELD_MS);
    network.faults.remove(held.id);
  },
  drop: (_simulator, people, person) =>
    people.whileAway(person, () => {
      for (const { connection } of person.phone.account.devices.values()) connection?.cut();
    }),
  'stream error': (_simulator, people, person) =>
    people.whileAway(person, () => {
      for (const { connection } of person.phone.account.devices.values()) {
        connection?.end(node('stream:error', { code: '503' }));
      }
    }),
  'refuse-connection': ({ network }, people, person) =>
    people.whileAway(person, async (client) => {
      network.faults.add({ kind: 'refuse-connection', code: 503, count: 1, phone: person.phone.account.phone });
      await client.end();
    }),
  silence: (_simulator, people, person) => people.silence(person, SILENT_MS),
};

const KINDS = Object.keys(misfortunes);

/** Lets one thing go wrong; resolves with its name once it has begun, or ended when it is about a line. */
export async function misbehave(simulator: Simulator, people: RandomPeople): Promise<string> {
  const kind = people.pick(KINDS);
  await misfortunes[kind]?.(simulator, people, people.pick(people.all));
  return kind;
}
