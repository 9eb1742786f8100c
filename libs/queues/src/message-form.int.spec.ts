import { randomInt, randomUUID } from 'node:crypto';
import { COMMANDS } from '@dormouse/gateway-contract';
import { closeRedis, openRedis, redisKeys, subscribeTo, type Redis, type Subscription } from '@dormouse/redis';
import { Queue } from 'bullmq';
import { CommandClient } from './command-client.js';
import type { CommandJob, ReplyMessage } from './command-job.js';
import { openCommandWorker, type CommandWorker, type ReceivedCommand } from './command-worker.js';
import { MESSAGE_FORM } from './message-form.js';
import { COMMAND_JOB_OPTIONS, commandQueueName } from './names.js';

jest.setTimeout(30_000);

const redisUrl = process.env.TEST_REDIS_URL ?? '';
/** What the last release before forms had numbers put into a job. */
const before = () => ({
  callId: randomUUID(),
  clientId: randomUUID(),
  channelId: 'CH-1',
  input: { anything: 1 },
  startBy: Date.now() + 20_000,
  requestId: 'r',
});

describe('commands between apps of different versions', () => {
  let redis: Redis;
  let queue: Queue<CommandJob>;
  let shard: number;
  const closing: { close(): Promise<void> }[] = [];

  beforeAll(() => {
    redis = openRedis({ url: redisUrl, name: 'spec-forms' });
  });
  afterAll(() => closeRedis(redis));
  beforeEach(() => {
    shard = randomInt(1_000_000, 2_000_000_000);
    queue = new Queue<CommandJob>(commandQueueName(shard), { connection: redis });
  });
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((one) => one.close()));
    await queue.obliterate({ force: true });
    await queue.close();
  });

  describe('a worker', () => {
    /** The reply to a job, and what the handler was given. */
    const sent = async (job: CommandJob): Promise<{ message: ReplyMessage; handled: ReceivedCommand[] }> => {
      const handled: ReceivedCommand[] = [];
      const worker: CommandWorker = openCommandWorker({
        redisUrl,
        shard,
        concurrency: 1,
        handle: (command) => (handled.push(command), Promise.resolve({ ok: true, result: 'done' })),
        onError: () => undefined,
      });
      closing.push(worker);
      const message = await new Promise<string>((resolve) => {
        const replies: Subscription = subscribeTo(redis, redisKeys.replies(job.clientId), resolve);
        closing.push(replies);
        void replies.started.then(() => queue.add('channel.logout', job, COMMAND_JOB_OPTIONS));
      });
      return { message: JSON.parse(message) as ReplyMessage, handled };
    };

    it('runs a job of an earlier caller, and replies in its form', async () => {
      const job = before();
      const { message, handled } = await sent(job);
      expect(message).toEqual({ form: 0, callId: job.callId, reply: { ok: true, result: 'done' } });
      expect(handled).toMatchObject([{ channelId: 'CH-1', input: job.input, revision: 1 }]);
    });

    it('runs a job of a later caller in a form it knows, whatever else is in it, and passes the revision on', async () => {
      const job = { ...before(), form: MESSAGE_FORM, revision: 7, priority: { of: 'later' } };
      const { message, handled } = await sent(job);
      expect(message).toMatchObject({ form: MESSAGE_FORM, reply: { ok: true } });
      expect(handled).toMatchObject([{ revision: 7 }]);
      expect(handled[0]).not.toHaveProperty('priority');
    });

    it('does not run a job of a later form: 503 with Retry-After, in a form of its own', async () => {
      const { message, handled } = await sent({ ...before(), form: MESSAGE_FORM + 1 });
      expect(message).toMatchObject({
        form: MESSAGE_FORM,
        reply: { ok: false, error: { status: 503, retryAfterS: 10 } },
      });
      expect(handled).toEqual([]);
    });
  });

  describe('a caller', () => {
    /** The outcome of a call whose worker publishes these texts, in which `CALL` is the call's id. */
    const answered = async (...texts: string[]): Promise<unknown> => {
      const client = new CommandClient({ redisUrl });
      closing.push(client);
      await client.start();
      const answer = client.call({ id: 'CH-1', shard }, 'channel.logout', {}, { requestId: 'r' });
      answer.catch(() => undefined);
      let jobs = await queue.getWaiting();
      while (jobs.length === 0) jobs = await queue.getWaiting();
      const job = jobs[0]?.data;
      expect(job).toMatchObject({ form: MESSAGE_FORM, revision: COMMANDS['channel.logout'].revision });
      for (const text of texts) {
        await redis.publish(redisKeys.replies(client.clientId), text.replaceAll('CALL', job?.callId ?? ''));
      }
      return answer;
    };

    it('takes the reply of an earlier worker, which has no form', async () => {
      expect(await answered('{"callId":"CALL","reply":{"ok":true,"result":{"success":true}}}')).toEqual({
        success: true,
      });
    });

    it('takes the reply of a later worker with fields it does not know, and passes over what is no reply', async () => {
      const reply = '{"form":1,"callId":"CALL","spent":{},"reply":{"ok":true,"result":{"success":true},"took":3}}';
      expect(await answered('not JSON', 'null', '[]', reply)).toEqual({ success: true });
    });

    it.each([
      ['a reply of a later form', '{"form":2,"callId":"CALL","outcome":"done"}'],
      [
        'an error with a status of a later version',
        '{"callId":"CALL","reply":{"ok":false,"error":{"status":599,"message":"x"}}}',
      ],
    ])('answers 502 to %s: the command may have run', async (_what, text) => {
      await expect(answered(text)).rejects.toMatchObject({ status: 502 });
    });
  });
});
