import type { RegionalDatabase } from '@dormouse/database';
import { eventually } from '../testing/eventually.js';
import { startDispatcher, webhook, type RunningDispatcher } from '../testing/test-dispatcher.js';
import { TestOutbox } from '../testing/test-outbox.js';
import { TestReceiver } from '../testing/test-receiver.js';

jest.setTimeout(120_000);

const HOUR_MS = 3_600_000;
const CHATS = Array.from({ length: 5 }, (_, index) => `${index}@s.whatsapp.net`);

/** mulberry32: the same numbers for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A database that a dispatcher loses: after a number of statements nothing it sends arrives, as after a SIGKILL. */
function dying(database: RegionalDatabase, statements: () => number): Pick<RegionalDatabase, 'pool'> {
  let count = 0;
  const pool = new Proxy(database.pool, {
    get(target, property): unknown {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      if (property !== 'query' && property !== 'connect') return value.bind(target) as unknown;
      return async (...given: unknown[]): Promise<unknown> => {
        count += 1;
        if (count > statements()) throw Object.assign(new Error('killed'), { code: 'ECONNREFUSED' });
        return value.apply(target, given) as unknown;
      };
    },
  });
  return { pool };
}

describe('whatever a receiver does and whenever a dispatcher dies', () => {
  it.each([1])('every event is accepted or given up, and those of a conversation in order (seed %i)', async (seed) => {
    const random = seeded(seed);
    const pick = (count: number): number => Math.floor(random() * count);
    const outbox = await TestOutbox.open();
    const hook = await TestReceiver.open();
    const chatOf = new Map<number, string>();
    const poison = new Set<number>();
    const accepted: number[] = [];
    let mood: 'well' | 'refuses' | 'breaks' = 'well';
    hook.behaviour = ({ number }, response) => {
      if (mood === 'breaks') return void response.destroy();
      if (mood === 'refuses' || poison.has(number)) return 500;
      accepted.push(number);
      return 200;
    };
    const channelId = await outbox.channel([webhook({ url: hook.url })]);
    let written = 0;
    let running: RunningDispatcher | undefined;
    let statements = Infinity;
    let life = { statements };
    const dead: Promise<void>[] = [];
    /** Stopped, or killed: then nothing it writes arrives, and its leases run out. */
    const end = async (): Promise<void> => {
      if (statements === Infinity) return running?.stop();
      life.statements = 0;
      if (running) dead.push(running.stop());
      await outbox.passTime(HOUR_MS);
    };
    const start = (): void => {
      statements = random() < 0.7 ? 5 + pick(60) : Infinity;
      life = { statements };
      const own = life;
      const settings = { leaseMs: 6_000, postTimeoutMs: 300, pollMs: 20, sweepMs: 40, drainMs: 10 };
      running = startDispatcher(outbox.url, { settings, wrap: (database) => dying(database, () => own.statements) });
    };
    try {
      for (let round = 0; round < 25; round += 1) {
        if (!running || random() < 0.4) {
          await end();
          start();
        }
        mood = (['well', 'well', 'well', 'refuses', 'breaks'] as const)[pick(5)] ?? 'well';
        const chats = Array.from({ length: 1 + pick(8) }, () => CHATS[pick(CHATS.length)] ?? '');
        chats.forEach((chat, index) => chatOf.set(written + index + 1, chat));
        if (random() < 0.4) poison.add(written + 1 + pick(chats.length));
        await outbox.write(channelId, chats.length, 'messages.post', 0, chats);
        written += chats.length;
        const calls = hook.calls.length;
        running?.signal(channelId);
        await outbox.passTime(HOUR_MS / 4, { leases: false });
        running?.dispatcher.sweepNow();
        await Promise.race([hook.received(calls + 1), new Promise((resolve) => setTimeout(resolve, 60))]);
      }
      await end();
      mood = 'well';
      running = startDispatcher(outbox.url, { settings: { pollMs: 20, sweepMs: 40 } });
      let looks = 0;
      const settled = async (isRight: (state: { position: number; setAside: number[]; leased: boolean }) => boolean) =>
        eventually(
          async () => {
            // Only a receiver that goes on accepting others has evidently been alive since.
            if (looks++ % 20 === 0) {
              await outbox.write(channelId, 1, 'messages.post', 0, ['other@g.us']);
              chatOf.set((written += 1), 'other@g.us');
            }
            const [state] = await outbox.cursors(channelId);
            // Time that passes during a delivery makes more of it due: on a slow machine it would never end.
            if (state && (state.leased || isRight(state))) return [state];
            await outbox.passTime(HOUR_MS / 4, { leases: false });
            running?.dispatcher.sweepNow();
            return outbox.cursors(channelId);
          },
          ([state]) => state !== undefined && isRight(state),
        );
      await settled(({ position, leased }) => position === written && !leased);
      const firsts = [...new Set(accepted)];
      expect(firsts.toSorted((a, b) => a - b)).toEqual([...chatOf.keys()].filter((number) => !poison.has(number)));
      // A receiver that refused everything for a while, after it had accepted some, has had healthy ones set aside, too.
      const log = await outbox.log(channelId);
      const aside = new Set(log.flatMap((line) => (line.includes('set_aside') ? [Number.parseInt(line, 10)] : [])));
      for (const chat of CHATS) {
        const inChat = firsts.filter((number) => chatOf.get(number) === chat && !aside.has(number));
        expect(inChat).toEqual(inChat.toSorted((a, b) => a - b));
      }
      expect((await outbox.cursors(channelId))[0]?.setAside).toEqual([...poison].toSorted((a, b) => a - b));
      poison.clear();
      await settled(({ position, setAside }) => position === written && setAside.length === 0);
      expect(new Set(accepted).size).toBe(written);
      expect(await outbox.deadLetters(channelId)).toEqual([]);
    } finally {
      await Promise.all([...dead, running?.stop()]);
      await hook.close();
      await outbox.close();
    }
  });
});
