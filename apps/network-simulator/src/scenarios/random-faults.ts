import { setTimeout } from 'node:timers/promises';
import type { Simulator } from '../simulator.js';
import type { Client } from './client.js';
import type { RandomFiles } from './random-files.js';
import type { RandomHistory } from './random-history.js';
import type { Person, RandomPeople } from './random-people.js';

const HELD_MS = 300;
const SILENT_MS = 800;
const UNKNOWN_MS = 300;
const STORM = { times: 3, everyMs: 150 };

/** Where things go wrong. */
export interface Stage {
  simulator: Simulator;
  people: RandomPeople;
  files: RandomFiles;
  history: RandomHistory;
}

/** Resolves with false when there was nothing that could go wrong in this way. */
type Misfortune = (stage: Stage, person: Person) => Promise<boolean | void>;

/** The control port did not take a fault: that is no part of the run. */
export class FaultRefused extends Error {}

/** Makes something go wrong as anybody can: through the control port. Returns the fault's id, if it stays in force. */
async function fault({ control }: Simulator, body: object): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${control}/faults`, { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = (await response.json()) as { id?: string; error?: string };
  if (!response.ok) throw new FaultRefused(`POST /faults ${JSON.stringify(body)}: ${answer.error}`);
  return answer.id ?? '';
}

async function undo({ control }: Simulator, id: string): Promise<void> {
  await fetch(`${control}/faults/${id}`, { method: 'DELETE' });
}

/** A fault of a number that applies once or a few times. */
const once =
  (body: { kind: string; count?: number } & Record<string, unknown>): Misfortune =>
  async ({ simulator }, { phone }) =>
    void (await fault(simulator, { count: 1, ...body, phone: phone.account.phone }));

const atFileHost =
  (body: object): Misfortune =>
  async ({ simulator }) =>
    void (await fault(simulator, { ...body, count: 1 }));

/** Connects again and again while the line is cut again and again. */
async function throughStorm(client: Client, stormy: { now: boolean }): Promise<void> {
  while (stormy.now) {
    if (!client.online) await client.connect().catch(() => undefined);
    await setTimeout(20);
  }
  if (client.online) await client.end();
}

const everybodysStorm: Misfortune = async ({ simulator, people }) => {
  const stormy = { now: true };
  const lines = people.online().map((person) => people.whileAway(person, (client) => throughStorm(client, stormy)));
  await fault(simulator, { kind: 'storm', ...STORM });
  await setTimeout(STORM.times * STORM.everyMs);
  stormy.now = false;
  return (await Promise.all(lines)).some(Boolean);
};

/** All that happens to people, messages, files and lines in a random run, each as likely as the others. */
const misfortunes: Record<string, Misfortune> = {
  'corrupt-message': once({ kind: 'corrupt-message' }),
  'duplicate-message': once({ kind: 'duplicate-message' }),
  // A phone has nobody to fill a placeholder for it.
  placeholder: async ({ simulator }, { phone: { account } }) => {
    for (const device of account.devices.keys()) {
      await fault(simulator, { kind: 'placeholder', phone: account.phone, device, count: 1 });
    }
    return account.devices.size > 0;
  },
  'lose-receipts': once({ kind: 'lose-receipts', count: 3 }),
  delay: once({ kind: 'delay', ms: 20, jitterMs: 30, count: 20 }),
  'delay-acks': once({ kind: 'delay-acks', ms: 100, count: 3 }),
  'refuse-send 463': once({ kind: 'refuse-send', code: 463 }),
  'refuse-send 479': once({ kind: 'refuse-send', code: 479 }),
  'refuse-iq': once({ kind: 'refuse-iq', xmlns: 'usync', code: 503 }),
  'refuse-upload': atFileHost({ kind: 'refuse-upload', code: 503 }),
  'slow-media': atFileHost({ kind: 'slow-media', ms: 20 }),
  'break-media': atFileHost({ kind: 'break-media' }),
  'expire-media': ({ simulator, files }) =>
    files.expireOne((directPath) => fault(simulator, { kind: 'expire-media', directPath })),
  'hold-acks': async ({ simulator }, { phone }) => {
    const held = await fault(simulator, { kind: 'hold-acks', phone: phone.account.phone });
    await setTimeout(HELD_MS);
    await undo(simulator, held);
  },
  'make-unknown': ({ simulator, people }, person) =>
    people.whileUnknown(person, async () => {
      const made = await fault(simulator, { kind: 'make-unknown', phone: person.phone.account.phone });
      await setTimeout(UNKNOWN_MS);
      await undo(simulator, made);
    }),
  drop: ({ simulator, people }, person) =>
    people.whileAway(
      person,
      async () => void (await fault(simulator, { kind: 'drop', phone: person.phone.account.phone })),
    ),
  'stream error': ({ simulator, people }, person) =>
    people.whileAway(
      person,
      async () => void (await fault(simulator, { kind: 'drop', phone: person.phone.account.phone, code: 503 })),
    ),
  'refuse-connection': ({ simulator, people }, person) =>
    people.whileAway(person, async (client) => {
      await fault(simulator, { kind: 'refuse-connection', code: 503, phone: person.phone.account.phone });
      await client.end();
    }),
  ban: ({ simulator, people }, person) =>
    people.whileAway(person, async (client) => {
      const closed = client.closed();
      const banned = await fault(simulator, { kind: 'ban', phone: person.phone.account.phone });
      await closed;
      await client.connect().catch(() => undefined);
      await undo(simulator, banned);
    }),
  storm: everybodysStorm,
  silence: ({ people }, person) => people.silence(person, SILENT_MS),
};

const KINDS = Object.keys(misfortunes);
/** What only somebody with a line can suffer. */
const AT_LINES = new Set(['placeholder', 'delay', 'drop', 'stream error', 'refuse-connection', 'ban', 'silence']);

/**
 * Lets one thing go wrong; resolves with its name once it has begun, or ended when it is about a line or a number;
 * `undefined` when there was nothing that could.
 */
export async function misbehave(stage: Stage): Promise<string | undefined> {
  const { people } = stage;
  const kind = people.pick(KINDS);
  const person = people.pick(AT_LINES.has(kind) ? people.online() : people.all);
  stage.history.note(person.phone.account.phone, `suffers ${kind}`);
  const struck = await misfortunes[kind]?.(stage, person);
  return struck === false ? undefined : kind;
}
