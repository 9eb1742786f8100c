import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { ChannelDirectory, webhookIds } from '@dormouse/channel-directory';
import { transaction } from '@dormouse/database';
import type { SettingsPatch } from '@dormouse/gateway-contract';
import { OPERATIONS, type Operation, type OperationName } from '@dormouse/management-contract';
import { MediaUploads } from '@dormouse/media-store/uploads';
import { ObjectStorage } from '@dormouse/object-storage';
import { publishEventsReady, subscribeEventsReady } from '@dormouse/queues';
import { closeRedis, openRedis } from '@dormouse/redis';
import { RunningControlPlane, type Answer } from '../test-control-plane.js';

jest.setTimeout(30_000);

const DAY_S = 86_400;
const HOOK = { url: 'https://hooks.example.com/wa', mode: 'body' as const, events: [{ type: 'messages' as const }] };

describe('events in the management API', () => {
  let plane: RunningControlPlane;
  let directory: ChannelDirectory;
  let key: string;
  let id: string;
  let hook: string;

  /** Makes a request; a successful answer must have the shape of the contract. */
  const call = async (name: OperationName, method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer> => {
    const answer = await plane.call(key, method, `/api/v1/channels/${path}`, body === undefined ? {} : { body });
    const operation: Operation = OPERATIONS[name];
    if (answer.status === 200) operation.answer?.parse(answer.body);
    return answer;
  };
  const query = (text: string, values: unknown[] = []) => plane.regional.pool.query(text, values);
  /** Writes events as a worker does, `ageS` old. */
  const write = async (count: number, kind = 'messages.post', ageS = 0): Promise<void> => {
    const [type, method] = kind.split('.');
    await transaction(plane.regional, async (connection) => {
      await connection.query(
        `INSERT INTO event_sequences AS s (channel_id, last_seq) VALUES ($1, $2)
         ON CONFLICT (channel_id) DO UPDATE SET last_seq = s.last_seq + $2`,
        [id, count],
      );
      await connection.query(
        `INSERT INTO events (channel_id, seq, id, type, method, payload, created_at)
         SELECT $1, last_seq - $2 + n, gen_random_uuid(), $3, $4, '{"messages":[{"id":"m"}]}',
                now() - $5::float8 * interval '1 s'
         FROM event_sequences, generate_series(1, $2) AS n WHERE channel_id = $1`,
        [id, count, type, method, ageS],
      );
    });
  };
  const bury = (seqs: number[]) =>
    query(
      `INSERT INTO dead_letters (channel_id, webhook_id, seq, attempts, last_status)
       SELECT $1, $2, seq, 5, 500 FROM unnest($3::bigint[]) AS seq`,
      [id, hook, seqs],
    );
  const cursor = async (): Promise<Record<string, unknown>> =>
    (await query('SELECT *, position::int AS at FROM webhook_cursors WHERE channel_id = $1', [id])).rows[0] as Record<
      string,
      unknown
    >;

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
    await plane.app.listen(0, '127.0.0.1');
    directory = new ChannelDirectory({ database: plane.regional, cacheMs: 0 });
  });
  afterAll(() => plane.close());
  beforeEach(async () => {
    ({ accountKey: key } = await plane.newAccount());
    const made = await plane.call(key, 'POST', '/api/v1/channels', { body: { name: 'Shop' } });
    id = (made.body['channel'] as { id: string }).id;
    const patch: SettingsPatch = { webhooks: [HOOK] };
    const update = await directory.updateSettings(id, patch);
    [hook = ''] = webhookIds(update?.after ?? { webhooks: [] });
  });

  it('belong to their account: other accounts get 404, and so does an unknown webhook', async () => {
    const { accountKey: other } = await plane.newAccount();
    for (const path of ['webhook-secret', 'webhooks', 'events', `webhooks/${hook}/deliveries`]) {
      expect((await plane.call(other, 'GET', `/api/v1/channels/${id}/${path}`)).status).toBe(404);
    }
    expect((await call('sendTestEvent', 'POST', `${id}/webhooks/0000000000000000/test`)).status).toBe(404);
    expect((await call('listDeliveries', 'GET', `${id}/webhooks/nope/deliveries`)).status).toBe(404);
  });

  it('are signed with a secret that is shown and can be rotated, the old one valid for a day', async () => {
    const first = (await call('getWebhookSecrets', 'GET', `${id}/webhook-secret`)).body['secrets'];
    const rotated = await call('rotateWebhookSecret', 'POST', `${id}/webhook-secret`, {});
    const [present, old] = rotated.body['secrets'] as { secret: string; created_at: number; expires_at?: number }[];
    expect(first).toMatchObject([{ secret: old?.secret }]);
    expect(present?.secret).not.toBe(old?.secret);
    expect((old?.expires_at ?? 0) - (present?.created_at ?? 0)).toBeGreaterThanOrEqual(DAY_S - 1);
    expect((await call('getWebhookSecrets', 'GET', `${id}/webhook-secret`)).body).toEqual(rotated.body);
    const ended = await call('rotateWebhookSecret', 'POST', `${id}/webhook-secret`, { old_valid_for_s: 0 });
    expect(ended.body['secrets']).toHaveLength(1);
    expect(plane.logged.join('')).not.toContain('whsec_');
    const { rows } = await plane.regional.pool.query<{ secret: string }>('SELECT secret FROM webhook_secrets');
    expect(rows.filter(({ secret }) => secret.startsWith('whsec_'))).toEqual([]);
  });

  it('are in a backlog whose size and age are exact: kinds the webhook does not subscribe to are not counted', async () => {
    await write(2, 'messages.post', 100);
    await write(3, 'statuses.post', 500);
    await query('UPDATE webhook_cursors SET position = 1, attempts = 2, last_error = $2 WHERE channel_id = $1', [
      id,
      'timeout',
    ]);
    await bury([1]);
    const { body } = await call('listWebhooks', 'GET', `${id}/webhooks`);
    const [state] = body['webhooks'] as { backlog: { events: number; oldest_age_s: number } }[];
    expect(state).toMatchObject({ id: hook, url: HOOK.url, position: 1, dead_letters: 1, backlog: { events: 1 } });
    expect(state).toMatchObject({ failing: { attempts: 2, last_error: 'timeout' } });
    expect(Math.round(state?.backlog.oldest_age_s ?? 0)).toBeGreaterThanOrEqual(100);
    expect(state?.backlog.oldest_age_s).toBeLessThan(130);
  });

  it('that are held or were set aside are counted, in the backlog and by themselves; a replay delivers them again', async () => {
    await write(6);
    await query(
      `UPDATE webhook_cursors SET position = 5, attempts = 0, has_held = true, paused = true, redirects_to = 'https://new.example/'
       WHERE channel_id = $1`,
      [id],
    );
    await query(
      `INSERT INTO webhook_held_events (channel_id, webhook_id, seq, conversation, attempts, next_attempt_at, set_aside_at)
       SELECT $1, $2, n, 'c', 1, now(), CASE WHEN n = 1 THEN now() END FROM unnest('{1,3,5}'::int[]) AS n`,
      [id, hook],
    );
    const shown = async () => (await call('listWebhooks', 'GET', `${id}/webhooks`)).body['webhooks'] as object[];
    expect(await shown()).toMatchObject([
      { position: 2, backlog: { events: 4 }, held: 2, set_aside: 1, redirects_to: 'https://new.example/' },
    ]);
    await call('replayEvents', 'POST', `${id}/webhooks/${hook}/replay`, { from: 0 });
    expect(await shown()).toMatchObject([{ position: 0, backlog: { events: 6 }, held: 0, set_aside: 0 }]);
    expect(await cursor()).toMatchObject({ paused: false });
  });

  it('have a delivery log in pages, newest first', async () => {
    await query(
      `INSERT INTO webhook_attempts (channel_id, webhook_id, seq, event_id, type, method, attempt, outcome, status, took_ms, answer)
       SELECT $1, $2, n, gen_random_uuid(), 'messages', 'post', 1, 'taken', 200, 12, 'ok' FROM generate_series(1, 5) AS n`,
      [id, hook],
    );
    const seqs: number[] = [];
    let before = '';
    for (let pages = 0; pages < 3; pages += 1) {
      const { body } = await call('listDeliveries', 'GET', `${id}/webhooks/${hook}/deliveries?count=2${before}`);
      seqs.push(...(body['deliveries'] as { sequence: number }[]).map(({ sequence }) => sequence));
      before = `&before=${String(body['next'])}`;
    }
    expect(seqs).toEqual([5, 4, 3, 2, 1]);
    expect(before).toBe('&before=undefined');
  });

  it('that were not accepted are listed with their content and delivered again one by one or all', async () => {
    await write(3);
    await bury([1, 3]);
    const list = `${id}/webhooks/${hook}/dead-letters`;
    const { body } = await call('listDeadLetters', 'GET', `${list}?count=1&offset=1`);
    expect(body).toMatchObject({ total: 2, count: 1, offset: 1 });
    expect(body['dead_letters']).toMatchObject([
      {
        sequence: 3,
        attempts: 5,
        last_status: 500,
        redriving: false,
        body: { channel_id: id, messages: [{ id: 'm' }] },
      },
    ]);
    expect((await call('redriveDeadLetters', 'POST', `${list}/redrive`, { sequences: [2, 3] })).body).toEqual({
      redriving: 1,
    });
    expect(await cursor()).toMatchObject({ redriving: true });
    expect((await call('redriveDeadLetters', 'POST', `${list}/redrive`)).body).toEqual({ redriving: 2 });
    expect((await call('redriveDeadLetters', 'POST', `${list}/redrive`, { sequences: [] })).status).toBe(400);
  });

  it('are replayed from a time on, even while a dispatcher holds the webhook', async () => {
    await write(2, 'messages.post', 1_000);
    await write(2, 'messages.post', 100);
    await query('UPDATE webhook_cursors SET position = 4, leased_by = $2, attempts = 3 WHERE channel_id = $1', [
      id,
      'x',
    ]);
    await bury([1, 4]);
    const from = Math.floor(Date.now() / 1_000) - 500;
    const { body } = await call('replayEvents', 'POST', `${id}/webhooks/${hook}/replay`, { from });
    expect(body).toEqual({ events: 2, from_sequence: 3 });
    expect(await cursor()).toMatchObject({ at: 2, leased_by: null, attempts: 0 });
    expect((await call('listDeadLetters', 'GET', `${id}/webhooks/${hook}/dead-letters`)).body).toMatchObject({
      total: 1,
    });
    // A replay never moves a webhook past events that were not delivered to it.
    await call('replayEvents', 'POST', `${id}/webhooks/${hook}/replay`, { from: Math.floor(Date.now() / 1_000) + 60 });
    expect(await cursor()).toMatchObject({ at: 2 });
  });

  it('can be tested: a test event is stored for one webhook, and the dispatcher is notified', async () => {
    const redis = openRedis({ url: plane.redisUrl, name: 'spec' });
    const notified: string[] = [];
    const subscription = subscribeEventsReady(redis, (channelId) => notified.push(channelId));
    await subscription.started;
    await write(1);
    const { body } = await call('sendTestEvent', 'POST', `${id}/webhooks/${hook}/test`);
    const { rows } = await query(
      'SELECT seq::int AS seq, id, type, webhook_id FROM events WHERE seq = 2 AND channel_id = $1',
      [id],
    );
    expect(rows).toEqual([{ seq: 2, id: body['event_id'], type: 'messages', webhook_id: hook }]);
    expect(body['sequence']).toBe(2);
    expect(notified).toContain(id);
    await subscription.close();
    await closeRedis(redis);
  });

  it('are fetched in pages by a cursor, without test events', async () => {
    await write(3);
    await call('sendTestEvent', 'POST', `${id}/webhooks/${hook}/test`);
    await write(2);
    const seqs: number[] = [];
    let answer = await call('listEvents', 'GET', `${id}/events?count=2`);
    for (;;) {
      seqs.push(...(answer.body['events'] as { sequence: number }[]).map(({ sequence }) => sequence));
      if (answer.body['more'] !== true) break;
      answer = await call('listEvents', 'GET', `${id}/events?count=2&cursor=${String(answer.body['cursor'])}`);
    }
    expect(seqs).toEqual([1, 2, 3, 5, 6]);
    expect((await call('listEvents', 'GET', `${id}/events?cursor=6`)).body).toEqual({
      events: [],
      cursor: '6',
      more: false,
    });
    expect((await call('listEvents', 'GET', `${id}/events?cursor=latest`)).body).toMatchObject({ cursor: '6' });
    expect((await call('listEvents', 'GET', `${id}/events?cursor=x`)).status).toBe(400);
  });

  it('are streamed as they happen, and a stream that reconnects continues where it ended', async () => {
    await write(2);
    const redis = openRedis({ url: plane.redisUrl, name: 'spec' });
    await once(redis, 'ready');
    const stream = await openStream({});
    expect(await stream.next(2)).toEqual([1, 2]);
    await write(1);
    await publishEventsReady(redis, id);
    expect(await stream.next(1)).toEqual([3]);
    stream.close();
    await write(2);
    const again = await openStream({ 'last-event-id': '3' });
    expect(await again.next(2)).toEqual([4, 5]);
    again.close();
    await closeRedis(redis);
  });

  it('are all sent on a stream from the latest event when they happen after it opened', async () => {
    await write(1);
    let isOpen = false;
    const open = async () => {
      const stream = await openStream({}, '?cursor=latest');
      isOpen = true;
      return stream;
    };
    const opening = await transaction(plane.regional, async (connection) => {
      await connection.query('LOCK TABLE event_sequences IN ACCESS EXCLUSIVE MODE');
      const started = { stream: open() };
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock' AND query LIKE '%event_sequences%'`;
      while ((await query(waiting)).rowCount === 0);
      await call('listEvents', 'GET', `${id}/events`); // the headers of the stream would have been there first
      expect(isOpen).toBe(false);
      return started;
    });
    const stream = await opening.stream;
    await write(1);
    const redis = openRedis({ url: plane.redisUrl, name: 'spec' });
    await once(redis, 'ready');
    await publishEventsReady(redis, id);
    expect(await stream.next(1)).toEqual([2]);
    stream.close();
    await closeRedis(redis);
  });

  it('have links to files that work, however late they are read, streamed or listed as dead letters', async () => {
    const storage = new ObjectStorage(plane.bucket);
    const bytes = Buffer.from('bytes of the picture');
    const file = await new MediaUploads({ database: plane.regional, storage }).keep(
      id,
      {
        path: '',
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest(),
        head: bytes,
        read: () => Readable.from([bytes]),
        dispose: () => Promise.resolve(),
        mimeType: 'image/jpeg',
        extension: 'jpeg',
        fileName: undefined,
      },
      'uploaded',
    );
    storage.close();
    await write(1, 'messages.post', 2 * DAY_S);
    const message = {
      id: 'M1',
      type: 'image',
      image: { id: file.id, mime_type: 'image/jpeg', link: 'http://127.0.0.1:9/expired', caption: 'Tea?' },
    };
    await query('UPDATE events SET payload = $2 WHERE channel_id = $1', [id, { messages: [message] }]);
    await bury([1]);
    const stream = await openStream({});
    await stream.next(1);
    stream.close();
    const shown = [
      ((await call('listEvents', 'GET', `${id}/events`)).body['events'] as { body: Record<string, unknown> }[])[0]
        ?.body,
      stream.frames[0]?.body,
      (
        (await call('listDeadLetters', 'GET', `${id}/webhooks/${hook}/dead-letters`)).body['dead_letters'] as {
          body: Record<string, unknown>;
        }[]
      )[0]?.body,
    ];
    for (const body of shown) {
      const [shown] = body?.['messages'] as (typeof message)[];
      const { link = '', ...image } = shown?.image ?? {};
      expect({ ...shown, image }).toEqual({
        ...message,
        image: { id: file.id, mime_type: 'image/jpeg', caption: 'Tea?' },
      });
      expect(await (await fetch(link)).text()).toBe('bytes of the picture');
    }
  });

  /** Opens the stream and reads sequences from it. */
  async function openStream(
    headers: Record<string, string>,
    search = '',
  ): Promise<{
    next: (count: number) => Promise<number[]>;
    /** All that came. */
    frames: { body: Record<string, unknown> }[];
    close: () => void;
  }> {
    const ended = new AbortController();
    const response = await fetch(`${await plane.app.getUrl()}/api/v1/channels/${id}/events${search}`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', ...headers },
      signal: ended.signal,
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(response.headers.get('x-request-id')).toMatch(/\S/);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const all: { body: Record<string, unknown> }[] = [];
    const next = async (count: number): Promise<number[]> => {
      for (;;) {
        const frames = [...text.matchAll(/^id: (\d+)\ndata: (\{.*\})\n\n/gm)];
        if (frames.length >= count) {
          text = '';
          all.push(...frames.map(([, , data = '']) => JSON.parse(data) as { body: Record<string, unknown> }));
          return frames.map(([, seq]) => Number(seq));
        }
        text += (await reader?.read())?.value ?? '';
      }
    };
    return { next, frames: all, close: () => ended.abort() };
  }
});
