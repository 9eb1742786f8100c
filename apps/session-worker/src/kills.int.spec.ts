/** What is no message survives a kill at every step, too: changes made on the phone, receipts, notices, a first link. */
import { silenceConsole } from './socket/patches/silent-console.js';
import { CrashingWorker, NOTED, type Step } from './test-crashes.js';

jest.setTimeout(60_000);

const CHANNEL = 'CH-KILLS';
const silent = { debug: () => undefined };

describe('a worker that is killed', () => {
  let worker: CrashingWorker;
  let own: string;
  let restoreConsole = (): void => undefined;
  const call = (path: string, body: object) => worker.network.call<{ id: string }>('POST', path, body);
  const count = async () => (await worker.events(CHANNEL)).length;

  beforeAll(async () => {
    restoreConsole = silenceConsole(silent);
    worker = await CrashingWorker.make();
    await worker.newChannel(CHANNEL);
    await worker.start();
    const code = await worker.loginCode(CHANNEL);
    own = await worker.newPhone('Example Shop');
    await call(`/phones/${own}/scan`, { qr: code });
    await worker.open(CHANNEL);
    await worker.until('the first state', async () => (await worker.keys('app-state-sync-version')) > 0);
    await worker.until('nothing kept', async () => (await worker.keys('inbound-journal')) === 0);
    await worker.untilConfirmed();
    await worker.stop();
  });
  afterAll(async () => {
    await worker.remove();
    restoreConsole();
  });

  /** The worker dies at the step; the next one notifies of `what`, and of everything of the kind once. */
  const dies = async (step: Step, act: () => Promise<unknown>, what: string, kind: string): Promise<void> => {
    const from = await count();
    const { reached } = await worker.start(step);
    await worker.open(CHANNEL);
    await act();
    await reached;
    await worker.crash();
    await worker.start();
    await worker.untilNotified(CHANNEL, what, from);
    await worker.untilConfirmed();
    const events = (await worker.events(CHANNEL)).slice(from);
    expect(events.filter((event) => event.startsWith(kind) && event.includes(what))).toHaveLength(1);
    await worker.stop();
  };

  /** A chat with somebody, with a message in it. */
  const newChat = async (): Promise<string> => {
    const ada = await worker.newPhone('Ada Example');
    await call(`/phones/${ada}/messages`, { to: own, text: `hello from ${ada}` });
    await worker.untilNotified(CHANNEL, `hello from ${ada}`);
    return ada;
  };

  const CHANGES = [
    ['archived', { archived: true }, 'recordChats', 'chats.patch', '"archive":true'],
    ['deleted', { delete: true }, 'deleteChat', 'chats.delete', 'chats_removed'],
    ['cleared', { clear: true }, 'clearChat', 'messages.delete', 'messages_removed_all'],
  ] as const;
  const STEPS = [
    ['before it is noted that something changed', NOTED, 'before'],
    ['when that is noted', NOTED, 'after'],
    ['before it is stored', undefined, 'before'],
    ['when it is stored and not confirmed', undefined, 'after'],
  ] as const;

  describe.each(CHANGES)('when a chat is %s on the phone', (_what, change, write, kind, fragment) => {
    it.each(STEPS)('%s, loses nothing of it and notifies once', async (_step, at, when) => {
      const act = async () => call(`/phones/${own}/chats`, { chat: await newChat(), ...change });
      await dies({ write: at ?? write, dies: when }, act, fragment, kind);
    });
  });

  it('stores what was sent in a chat after it was deleted, although it receives the deletion late', async () => {
    const { reached } = await worker.start({ write: 'deleteChat', dies: 'before' });
    await worker.open(CHANNEL);
    const ada = await newChat();
    await call(`/phones/${own}/chats`, { chat: ada, delete: true });
    await reached;
    await worker.crash();
    await new Promise((resolve) => setTimeout(resolve, 1_100)); // the network counts time in seconds
    await call(`/phones/${ada}/messages`, { to: own, text: 'sent later' });
    await worker.start();
    await worker.untilNotified(CHANNEL, 'sent later');
    await worker.untilConfirmed();
    const { rows } = await worker.database.pool.query<{ body: string }>(
      `SELECT content -> 'text' ->> 'body' AS body FROM messages WHERE channel_id = $1 AND chat_id = $2`,
      [CHANNEL, `${ada}@s.whatsapp.net`],
    );
    expect(rows).toEqual([{ body: 'sent later' }]);
    await worker.stop();
  });

  it.each([
    ['before it is stored', 'before'],
    ['when it is stored and the network does not know', 'after'],
  ] as const)('%s, loses no receipt, and notifies each once', async (_step, when) => {
    const ada = await worker.newPhone('Ada Example');
    const from = await count();
    await worker.start();
    await worker.open(CHANNEL);
    const { id } = await call(`/phones/${own}/messages`, { to: ada, text: `to ${ada}` });
    await worker.untilNotified(CHANNEL, '"delivered"', from);
    await worker.stop();
    const act = () => call(`/phones/${ada}/read`, { chat: own, ids: [id] });
    await dies({ write: 'recordStatuses', dies: when }, act, '"status":"read"', 'statuses.post');
  });

  it.each([
    ['before it is stored', 'before'],
    ['when it is stored and the network does not know', 'after'],
  ] as const)('%s, loses no change of the members of a group, and notifies it once', async (_step, when) => {
    const ada = await worker.newPhone('Ada Example');
    const bo = await worker.newPhone('Bo Example');
    await worker.start();
    await worker.open(CHANNEL);
    const { id } = await call(`/phones/${ada}/groups`, { subject: `Group of ${ada}`, members: [own] });
    await worker.untilNotified(CHANNEL, `Group of ${ada}`);
    await worker.stop();
    const act = () => call(`/phones/${ada}/groups/${id}/members`, { action: 'add', members: [bo] });
    await dies({ write: 'changeGroup', dies: when }, act, '"action":"add"', 'groups.');
  });

  it('while it is being linked, loses nothing of the history nor of how its chats stand', async () => {
    const channel = 'CH-FIRST';
    await worker.newChannel(channel);
    const phone = await worker.newPhone('New Shop');
    const [ada, bo] = [await worker.newPhone('Ada Example'), await worker.newPhone('Bo Example')];
    await call(`/phones/${phone}/history`, { chats: [ada, bo], messagesPerChat: 5 });
    await call(`/phones/${phone}/chats`, { chat: bo, archived: true });
    const { reached } = await worker.start({ write: 'recordHistory', dies: 'before' });
    const code = await worker.loginCode(channel);
    await call(`/phones/${phone}/scan`, { qr: code });
    await reached;
    await worker.crash();
    await worker.start();
    await worker.until('the history and the states', async () => {
      const { rows } = await worker.database.pool.query<{ messages: number; archived: number }>(
        `SELECT (SELECT count(*)::int FROM messages WHERE channel_id = $1) AS messages,
           (SELECT count(*)::int FROM chats WHERE channel_id = $1 AND archived) AS archived`,
        [channel],
      );
      return rows[0]?.messages === 10 && rows[0].archived === 1;
    });
    await worker.until('nothing kept', async () => (await worker.keys('inbound-journal')) === 0);
    await worker.stop();
  });
});
