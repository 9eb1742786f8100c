import pg from 'pg';
import type { Drill } from './drill.js';
import { onSandbox } from './sandbox.js';
import { until } from './traffic.js';

const POISON = 'poison';
const WITHIN_MS = 90_000;
/** Longer than an event is retried. */
const AGE = '73 hours';

interface DeadLetters {
  dead_letters: { sequence: number }[];
}

/**
 * One event makes its receiver fail each time, as an input would that its program cannot read. It delays its own conversation, becomes a
 * dead letter (its 72 hours are made to pass), and is delivered again once the receiver is repaired.
 */
export const poisonedEvent: Drill = {
  about: 'one event makes its receiver fail each time',
  runbook: 'event-backlog.md',
  run: ({ isShort, report }) =>
    onSandbox({ report, channels: isShort ? 2 : 10 }, async (sandbox) => {
      const { stack, world, receiver, traffic } = sandbox;
      const [channel] = sandbox.channels;
      if (!channel) throw new Error('no channel');
      const database = new pg.Client({ connectionString: stack.databases.sg });
      await database.connect();
      try {
        let attempts = 0;
        receiver.answers = (text) => {
          if (text !== POISON) return 200;
          attempts += 1;
          return 500;
        };
        report.step('a phone writes the text that the receiver fails at');
        const stranger = await world.newPhone();
        await world.sendFromPhone(stranger, channel.phone, POISON);
        await until('it was tried twice', WITHIN_MS, () => attempts >= 2);
        report.step('step 1: GET /sg/stuck and the webhooks of the channel; the rest goes on meanwhile');
        const path = `${stack.urls.controlPlane}/api/v1/channels/${channel.id}/webhooks`;
        const [webhook] = (await world.call<{ webhooks: { id: string }[] }>(path)).webhooks;
        const deadLetters = `${path}/${webhook?.id ?? ''}/dead-letters`;
        const before = receiver.deliveries.length;
        await until('others are delivered', WITHIN_MS, () => receiver.deliveries.length > before + 5);

        report.step('its 72 hours pass (the clock of its rows is put forward)');
        await until('it is a dead letter', WITHIN_MS, async () => {
          await database.query(
            `UPDATE events SET created_at = now() - interval '${AGE}' WHERE payload::text LIKE '%"${POISON}"%'`,
          );
          await database.query('UPDATE webhook_held_events SET next_attempt_at = now() WHERE next_attempt_at > now()');
          await database.query(
            `UPDATE webhook_cursors SET since = least(since, now() - interval '${AGE}'), next_attempt_at = least(next_attempt_at, now())`,
          );
          return (await world.call<DeadLetters>(deadLetters)).dead_letters.length === 1;
        });
        report.figure('attempts until it was a dead letter', attempts);
        report.step('step 4: the receiver is repaired, the dead letter is requested again');
        receiver.answers = undefined;
        await world.call(`${deadLetters}/redrive`, 'POST', {});
        const isDelivered = (): boolean => receiver.deliveries.some(({ text }) => text === POISON);
        await until('it is delivered', WITHIN_MS, isDelivered);
        await until('no dead letter is left', WITHIN_MS, async () => {
          return (await world.call<DeadLetters>(deadLetters)).dead_letters.length === 0;
        });
        const times = receiver.deliveries.filter(({ text }) => text === POISON).length;
        report.promise('it is delivered once in the end', times === 1 ? [] : [`${times} times`]);
        await traffic.servedAfterMs(Date.now());
        await sandbox.settle();
      } finally {
        await database.end();
      }
    }),
};
