/** Commands and inbound together: one linked channel talks with phones of the simulated network. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ChannelDirectory } from '@dormouse/channel-directory';
import { openRegionalDatabase, type RegionalDatabase } from '@dormouse/database';
import { Downloader } from '@dormouse/media-files';
import { listMessagesQuery, type Message, type SentMessage } from '@dormouse/gateway-contract';
import { GroupReader, MessageReader } from '@dormouse/message-store/read';
import { ChatWriter, GroupWriter, MessageWriter, PictureWriter } from '@dormouse/message-store/write';
import type { CommandReply } from '@dormouse/queues';
import { createTestDatabase, type TestStore } from '@dormouse/stack/test-stores';
import { AuthRows } from './auth-state/auth-rows.js';
import { AuthStates } from './auth-state/auth-state.js';
import { CommandRunner } from './commands/command-runner.js';
import { makeHandlers } from './commands/handlers.js';
import { LinkPreviews } from './commands/link-previews.js';
import { networkError } from './commands/network-errors.js';
import { RecentNumbers } from './commands/recent-numbers.js';
import { GroupBook } from './groups/group-book.js';
import { GroupKeeper } from './groups/group-keeper.js';
import { Automatic } from './inbound/automatic.js';
import { Inbound } from './inbound/inbound.js';
import { recallFrom } from './inbound/recall.js';
import { ChangeSignal } from './sessions/change-signal.js';
import { Sessions } from './sessions/sessions.js';
import type { HeldShard } from './shards/shard-owner.js';
import { NOBODY_SLEEPS } from './test-sleep.js';
import { silenceConsole } from './silent-console.js';
import { noImages, noMedia } from './test-media.js';
import { startTestNetwork, type TestNetwork } from './test-network.js';

const CHANNEL = 'CH-TALK';
const LATEST = listMessagesQuery.parse({});
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };
const soon = (): number => Date.now() + 15_000;

interface PhoneMessage {
  id: string;
  text?: string;
  fromMe: boolean;
  quoted?: string;
  mentions?: string[];
  ephemeralSeconds?: number;
}

describe('a conversation', () => {
  let store: TestStore;
  let database: RegionalDatabase;
  let network: TestNetwork;
  let reader: MessageReader;
  let sessions: Sessions;
  let runner: CommandRunner;
  let own: string;
  let ada: string;
  let order = 0;
  let restoreConsole = (): void => undefined;
  const told = new ChangeSignal();
  const masterKeys = { currentId: 'k', keys: new Map([['k', randomBytes(32)]]) };
  const held: HeldShard = {
    fence: { shard: 0, epoch: 1n },
    isHeld: () => true,
    verify: () => Promise.resolve(true),
    lose: () => undefined,
  };

  const startWorker = async () => {
    const writer = new MessageWriter({ database });
    const chats = new ChatWriter({ database });
    const directory = new ChannelDirectory({ database, cacheMs: 0 });
    const eventsReady = (): void => told.fire();
    const groups = new GroupWriter({ database });
    const book = new GroupBook({ groups, eventsReady });
    const keeper = new GroupKeeper({ book });
    const wait = (ms: number): Promise<void> => delay(ms);
    const automatic = new Automatic({ directory, wait, now: Date.now });
    const pictures = new PictureWriter({ database });
    const patience = { now: Date.now, wait, retryForMs: 5_000 };
    const wantsGroupNotices = (): Promise<boolean> => Promise.resolve(false);
    const hearing = { writer, automatic, groups, askGroup: keeper.ask.bind(keeper), wantsGroupNotices, eventsReady };
    const groupReader = new GroupReader({ database });
    sessions = new Sessions({
      directory,
      database,
      authStates: new AuthStates(new AuthRows(database), masterKeys),
      hibernation: NOBODY_SLEEPS,
      network: { socketUrl: network.socketUrl, rootKey: network.rootKey },
      listeners: [keeper, new Inbound({ ...hearing, chats, pictures, ...patience })],
      recall: recallFrom(writer),
      groups: book,
      backoff: { baseMs: 20, maxDelayMs: 200, windowMs: 60_000, maxInWindow: 6 },
      restMs: 60_000,
      ackWaitMs: 1_500,
      connectingAtOnce: 10,
      startJitterMs: 0,
      log: silent,
    });
    const previews = new LinkPreviews(new Downloader({ allowLoopback: true }), noImages());
    const media = noMedia();
    const handlers = makeHandlers({
      reader,
      writer,
      chats,
      checkedNumbers: new RecentNumbers(Date.now),
      iconOf: () => Promise.reject(new Error('no file is kept here')),
      groups: book,
      groupReader,
      previews,
      media,
      eventsReady,
      now: Date.now,
      wait,
      putToSleep: () => Promise.resolve(false),
    });
    runner = new CommandRunner({ sessions, directory, handlers, networkError, log: silent });
    await sessions.takeOver(held);
  };

  beforeAll(async () => {
    restoreConsole = silenceConsole(silent);
    [store, network] = await Promise.all([createTestDatabase('regional'), startTestNetwork()]);
    database = openRegionalDatabase({ url: store.url, applicationName: 'conversation-spec' });
    await database.pool.query('INSERT INTO shard_leases (shard, epoch) VALUES (0, 1)');
    reader = new MessageReader({ database });
    await startWorker();
    await new ChannelDirectory({ database }).create({
      id: CHANNEL,
      accountId: 'a',
      name: CHANNEL,
      tokenHash: randomBytes(32),
      shard: 0,
    });
    const { code } = await sessions.loginCode(CHANNEL, soon());
    own = (await newPhone('Example Shop')).phone;
    await network.call('POST', `/phones/${own}/scan`, { qr: code });
    await sessions.open(CHANNEL, soon());
    ada = (await newPhone('Ada Example')).phone;
  }, 30_000);

  afterAll(async () => {
    await sessions.handOver(held);
    await network.stop();
    await database.close();
    await store.drop();
    restoreConsole();
  });

  const newPhone = (name: string) => network.call<{ phone: string; lid: string }>('POST', '/phones', { name });

  const call = (input: Record<string, unknown>): Promise<CommandReply> =>
    runner.run({
      order: ++order,
      channelId: CHANNEL,
      name: 'messages.sendText',
      input,
      startBy: Date.now() + 10_000,
      requestId: `r${order}`,
      afterAnswer: (work) => void work(),
    });

  const send = async (input: Record<string, unknown>): Promise<Message> => {
    const reply = await call(input);
    if (!reply.ok) throw new Error(`${reply.error.status}: ${reply.error.details ?? reply.error.message}`);
    return (reply.result as SentMessage).message;
  };

  const received = (phone: string, filter: Record<string, unknown>): Promise<PhoneMessage> =>
    network.call<PhoneMessage>('POST', `/phones/${phone}/messages/wait`, { ...filter, timeoutMs: 10_000 });

  const said = async (phone: string, message: Record<string, unknown>): Promise<Message> => {
    const { id } = await network.call<{ id: string }>('POST', `/phones/${phone}/messages`, { to: own, ...message });
    return until(async () => {
      const { rows } = await database.pool.query<{ id: string }>(
        'SELECT id FROM messages WHERE channel_id = $1 AND key_id = $2',
        [CHANNEL, id],
      );
      return rows[0] && reader.message(CHANNEL, rows[0].id);
    });
  };

  /** Looks whenever something was told until there is an answer. */
  const until = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
    const deadlineMs = soon();
    for (;;) {
      const changed = told.changedBy(Math.min(deadlineMs, Date.now() + 500));
      const found = await look();
      if (found !== undefined) return found;
      if (Date.now() > deadlineMs) throw new Error('waited in vain');
      await changed;
    }
  };

  const statusesOf = async ({ id }: Message): Promise<string[]> =>
    (await reader.statuses(CHANNEL, id))?.statuses.map(({ status }) => status) ?? [];

  const untilStatus = (message: Message, status: string): Promise<string[]> =>
    until(async () => {
      const statuses = await statusesOf(message);
      return statuses.includes(status) ? statuses : undefined;
    });

  const eventsOf = async (id: string): Promise<string[]> => {
    const events = await reader.events(CHANNEL, 0, 10_000);
    return events.flatMap(({ type, method, payload }) => {
      const list = Object.values(payload)[0] as { id: string; status?: string }[];
      return list[0]?.id === id ? [`${type}.${method} ${list[0].status ?? ''}`.trim()] : [];
    });
  };

  it('says a text: pending, sent, delivered, read as the phone reads it', async () => {
    const message = await send({ to: ada, body: 'Hello Ada' });
    expect(message).toEqual({
      id: message.id,
      from_me: true,
      type: 'text',
      chat_id: `${ada}@s.whatsapp.net`,
      timestamp: expect.any(Number) as number,
      source: 'api',
      device_id: expect.any(Number) as number,
      status: 'pending',
      text: { body: 'Hello Ada' },
      from: own,
    });
    await received(ada, { text: 'Hello Ada', fromMe: false });
    await untilStatus(message, 'delivered');
    await network.call('POST', `/phones/${ada}/read`, { chat: own });
    expect(await untilStatus(message, 'read')).toEqual(['pending', 'sent', 'delivered', 'read']);
    expect(await eventsOf(message.id)).toEqual([
      'messages.post pending',
      'statuses.post sent',
      'statuses.post delivered',
      'statuses.post read',
    ]);
    expect((await reader.message(CHANNEL, message.id))?.status).toBe('read');
  });

  it('hears a text, once, with the number of its author', async () => {
    const message = await said(ada, { text: 'Hello there' });
    expect(message).toMatchObject({
      from_me: false,
      type: 'text',
      chat_id: `${ada}@s.whatsapp.net`,
      text: { body: 'Hello there' },
      from: ada,
      from_name: 'Ada Example',
      chat_name: 'Ada Example',
    });
    expect(await eventsOf(message.id)).toEqual(['messages.post']);
  });

  it('quotes, mentions, and lets a message disappear', async () => {
    const heard = await said(ada, { text: 'quote me' });
    const message = await send({ to: ada, body: `@${ada} yes`, quoted: heard.id, mentions: [ada], ephemeral: 86_400 });
    expect(message.context).toEqual({
      quoted_id: heard.id,
      quoted_author: ada,
      quoted_type: 'text',
      quoted_content: { body: 'quote me' },
      mentions: [ada],
      ephemeral: 86_400,
    });
    const arrived = await received(ada, { text: `@${ada} yes` });
    const original = await received(ada, { text: 'quote me' });
    expect(arrived).toMatchObject({ quoted: original.id, ephemeralSeconds: 86_400 });
    const answer = await said(ada, { text: 'and I you', quote: arrived.id });
    expect(answer.context).toMatchObject({ quoted_id: message.id, quoted_author: own, quoted_type: 'text' });
  });

  it('refuses to quote or edit a message that is not there: 404 naming the field', async () => {
    for (const field of ['quoted', 'edit']) {
      const reply = await call({ to: ada, body: 'x', [field]: 'AAAAAAAA-AAAAAAAA' });
      expect(reply).toMatchObject({ ok: false, error: { status: 404, details: `${field}: no such message` } });
    }
  });

  it("edits an own text on the phone and in the store, and nobody else's", async () => {
    const message = await send({ to: ada, body: 'tipo' });
    const edited = await send({ to: ada, body: 'typo', edit: message.id });
    expect(edited).toMatchObject({ id: message.id, text: { body: 'typo' } });
    await received(ada, { text: 'typo' });
    expect(await eventsOf(message.id)).toContain('messages.patch');
    const heard = await said(ada, { text: 'mine' });
    expect(await call({ to: ada, body: 'x', edit: heard.id })).toMatchObject({ ok: false, error: { status: 403 } });
  });

  it('shows typing before it speaks, for as long as asked', async () => {
    const startedMs = Date.now();
    await send({ to: ada, body: 'thought about it', typing_time: 0.3 });
    expect(Date.now() - startedMs).toBeGreaterThanOrEqual(300);
  });

  it('takes a message to a number that is not on the network, and tells by its status that it failed', async () => {
    const message = await send({ to: '15550999999', body: 'anybody there?' });
    expect(message.status).toBe('pending');
    expect(await untilStatus(message, 'failed')).toEqual(['pending', 'failed']);
    expect(await eventsOf(message.id)).toEqual(['messages.post pending', 'statuses.post failed']);
  });

  it('tells a refusal of the network to the caller and in the statuses', async () => {
    await network.call('POST', '/faults', { kind: 'refuse-send', code: 463, count: 1 });
    const reply = await call({ to: ada, body: 'refused' });
    expect(reply).toMatchObject({ ok: false, error: { status: 403, details: 'recipient refused by the network' } });
    const [message] = (await reader.listMessages(CHANNEL, LATEST)).messages.filter(
      ({ text }) => text?.body === 'refused',
    );
    expect(message?.status).toBe('failed');
    const failed = (await reader.statuses(CHANNEL, message?.id ?? ''))?.statuses.at(-1);
    expect(failed).toMatchObject({
      status: 'failed',
      errors: [{ code: 463, message: 'recipient refused by the network' }],
    });
  });

  it('answers 502 when the network does not acknowledge in time, and believes the receipt that comes later', async () => {
    const { id } = await network.call<{ id: number }>('POST', '/faults', { kind: 'hold-acks' });
    const reply = await call({ to: ada, body: 'unconfirmed' });
    expect(reply).toMatchObject({ ok: false, error: { status: 502 } });
    await network.call('DELETE', `/faults/${id}`);
    const [message] = (await reader.listMessages(CHANNEL, LATEST)).messages.filter(
      ({ text }) => text?.body === 'unconfirmed',
    );
    if (!message) throw new Error('the message is not stored');
    expect(await untilStatus(message, 'delivered')).toEqual(['pending', 'sent', 'delivered']);
  });

  it('hears what the owner types on the phone, and its receipts', async () => {
    const { id } = await network.call<{ id: string }>('POST', `/phones/${own}/messages`, {
      to: ada,
      text: 'from my phone',
    });
    const message = await until(async () =>
      (await reader.listMessages(CHANNEL, LATEST)).messages.find(({ text }) => text?.body === 'from my phone'),
    );
    expect(message).toMatchObject({ from_me: true, source: 'mobile', from: own, chat_id: `${ada}@s.whatsapp.net` });
    expect(id).not.toBe('');
  });

  it('tells a message once whose first copy could not be read, when it is readable', async () => {
    const place = { phone: own, device: (await sessions.open(CHANNEL, soon())).identity.deviceId };
    await network.call('POST', '/faults', { kind: 'corrupt-message', ...place, count: 1 });
    const message = await said(ada, { text: 'at the second try' });
    expect(message).toMatchObject({ type: 'text', text: { body: 'at the second try' } });
    expect(await eventsOf(message.id)).toEqual(['messages.post']);
  });

  it('tells a message once that the network brings twice', async () => {
    const place = { phone: own, device: (await sessions.open(CHANNEL, soon())).identity.deviceId };
    await network.call('POST', '/faults', { kind: 'duplicate-message', ...place, count: 1 });
    const message = await said(ada, { text: 'twice' });
    const after = await said(ada, { text: 'after the twin' });
    expect(await eventsOf(message.id)).toEqual(['messages.post']);
    expect(await eventsOf(after.id)).toEqual(['messages.post']);
  });

  it('sends again what the recipient could not read', async () => {
    await network.call('POST', '/faults', { kind: 'corrupt-message', phone: ada, device: 0, count: 1 });
    const message = await send({ to: ada, body: 'readable in the end' });
    await received(ada, { text: 'readable in the end', fromMe: false });
    expect(await untilStatus(message, 'delivered')).toEqual(['pending', 'sent', 'delivered']);
  });

  it('keeps the order of calls to one channel, and does not wait for acks in between', async () => {
    const bodies = Array.from({ length: 15 }, (_, n) => `in order ${n}`);
    await network.call('POST', '/faults', { kind: 'delay-acks', ms: 200, count: 15 });
    const startedMs = Date.now();
    await Promise.all(bodies.map((body) => send({ to: ada, body })));
    expect(Date.now() - startedMs).toBeLessThan(15 * 200);
    const messages = await network.call<PhoneMessage[]>('GET', `/phones/${ada}/messages?chat=${own}`);
    expect(messages.map(({ text }) => text).filter((text) => text?.startsWith('in order'))).toEqual(bodies);
  });

  it('lists the chat with its last message and what is unread', async () => {
    await said(ada, { text: 'last words' });
    const { chats } = await reader.listChats(CHANNEL, { count: 10, offset: 0 });
    expect(chats[0]).toMatchObject({
      id: `${ada}@s.whatsapp.net`,
      type: 'contact',
      name: 'Ada Example',
      last_message: { text: { body: 'last words' } },
    });
    expect(chats[0]?.unread).toBeGreaterThan(0);
  });

  it('stores what came while no worker was there, in order, told once', async () => {
    await sessions.handOver(held);
    for (let n = 0; n < 30; n += 1) {
      await network.call('POST', `/phones/${ada}/messages`, { to: own, text: `while away ${n}` });
    }
    await startWorker();
    await sessions.open(CHANNEL, soon());
    await until(async () => {
      const events = await reader.events(CHANNEL, 0, 10_000);
      const bodies = events.flatMap(({ payload }) => {
        const [message] = (payload as { messages?: Message[] }).messages ?? [];
        return message?.text?.body.startsWith('while away') ? [message.text.body] : [];
      });
      if (bodies.length < 30) return undefined;
      expect(bodies).toEqual(Array.from({ length: 30 }, (_, n) => `while away ${n}`));
      return bodies;
    });
  }, 30_000);
});
