import { GatewayError, type Message } from '@dormouse/gateway-contract';
import type { MessageRecord, StatusReport, StoredMessage } from '@dormouse/message-store/write';
import { proto } from '@whiskeysockets/baileys';
import { testNetwork } from '../../socket/test-network.js';
import type { MessageAck, OpenSession } from '../../socket/open-session.js';
import type { CommandContext } from '../command-context.js';
import { editMessage } from './edit-message.js';
import type { MessageTools } from './message-tools.js';
import { sendMessage } from './send-message.js';

const ADA = '15550001111@s.whatsapp.net';
const NOW_MS = 1_790_000_000_000;
type Ack = () => Promise<MessageAck>;
const accepted: Ack = () => Promise.resolve({});

/** A store and a network that record their calls. The library encrypts at once, and holds back what is to wait. */
function setup(acks: Ack[] = [], beforeStore: () => Promise<void> = () => Promise.resolve()) {
  const stored = new Map<string, StoredMessage>();
  const sent: { id: string; content: proto.IMessage; edit: string | undefined }[] = [];
  const unconfirmed: string[] = [];
  let held: Promise<unknown> = Promise.resolve();
  const tools = {
    reader: { message: (_: string, id: string) => Promise.resolve(stored.get(id)?.message) },
    writer: {
      find: (_: string, id: string) => Promise.resolve(stored.get(id)),
      recordMessage: async (_: unknown, __: string, { message, key, proto: bytes }: MessageRecord) => {
        await beforeStore();
        stored.set(message.id, { message, key, proto: Buffer.from(bytes ?? []) });
        return { seqs: [], ids: [message.id] };
      },
      recordStatuses: (_: unknown, __: string, [report]: StatusReport[]) => {
        const found = [...stored.values()].find(({ key }) => key.id === report?.keyId);
        if (found && report) found.message = { ...found.message, status: report.status };
        return Promise.resolve({ seqs: [] });
      },
      isUnconfirmed: () => Promise.resolve(false),
      recordChange: () => Promise.resolve({ seqs: [], ids: [] }),
    },
    unconfirmed: { add: (_: OpenSession, keyId: string) => unconfirmed.push(keyId) },
    eventsReady: () => undefined,
    now: () => NOW_MS,
    wait: () => Promise.resolve(),
  } as unknown as MessageTools;
  const session = {
    channelId: 'c1',
    identity: { phone: '15550009999', deviceId: 7 },
    expectAck: () => (acks.shift() ?? accepted)(),
    holdCiphertext: (work: Promise<unknown>) => {
      held = work;
      return () => (held = Promise.resolve());
    },
    reportFault: () => undefined,
    network: testNetwork({
      authState: { creds: { me: { id: '15550009999:7@s.whatsapp.net' } } },
      relayMessage: async (
        _: string,
        content: proto.IMessage,
        { messageId, additionalAttributes }: { messageId: string; additionalAttributes?: { edit?: string } },
      ) => {
        await held;
        sent.push({ id: messageId, content, edit: additionalAttributes?.edit });
        return messageId;
      },
    }),
  } as unknown as OpenSession;
  const context = (sendAs?: string) =>
    ({
      channelId: 'c1',
      sendAs,
      session: () => session,
      leaveLane: () => undefined,
      afterAnswer: (work: () => Promise<unknown>) => void work(),
    }) as unknown as CommandContext;
  const send = (sendAs?: string, text = 'Hello') =>
    sendMessage(context(sendAs), tools, {
      to: { jid: ADA, chatId: ADA },
      content: { extendedTextMessage: { text } },
      shown: { type: 'text', text: { body: text } },
    });
  const storeMessage = (message: Partial<Message>) =>
    stored.set('m1', {
      message: {
        id: 'm1',
        from_me: true,
        type: 'text',
        chat_id: ADA,
        source: 'api',
        status: 'sent',
        timestamp: NOW_MS / 1_000,
        text: { body: 'tipo' },
        ...message,
      },
      key: { id: '3EB0AA', remote: ADA },
    });
  const edit = () => editMessage(context(), tools, { id: 'm1', body: 'typo', context: {}, field: 'MessageID' });
  return { sent, stored, unconfirmed, send, storeMessage, edit };
}

describe('a send', () => {
  it('has an id of its own each time', async () => {
    const { sent, send } = setup();
    await send();
    await send();
    expect(new Set(sent.map(({ id }) => id)).size).toBe(2);
  });

  it('that is repeated is not sent again once the network accepted it', async () => {
    const { sent, send } = setup();
    const first = await send('key');
    const again = await send('key');
    expect(again.message.id).toBe(first.message.id);
    expect(sent).toHaveLength(1);
    expect(sent[0]?.id).toMatch(/^3EB0[0-9A-F]{18}$/);
  });

  it('whose outcome is unknown is repeated as the same message, with the same content', async () => {
    const lost = new GatewayError(502, { details: 'no answer' });
    const { sent, send, stored, unconfirmed } = setup([() => Promise.reject(lost)]);
    const refusal: unknown = await send('key', 'first text').catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 502, details: `no answer; its id is ${[...stored.keys()][0]}` });
    expect(unconfirmed).toEqual([sent[0]?.id]);
    const { message } = await send('key', 'first text');
    expect(sent.map(({ id }) => id)).toEqual([sent[0]?.id, sent[0]?.id]);
    expect(sent[1]?.content.extendedTextMessage?.text).toBe('first text');
    expect([...stored.keys()]).toEqual([message.id]);
    expect(stored.get(message.id)?.message.status).toBe('sent');
  });

  it('has a secret of its own, which is stored with it and is the same in a repetition', async () => {
    const { sent, send, stored } = setup([() => Promise.reject(new GatewayError(502))]);
    await send('key').catch(() => undefined);
    await send('key');
    const [first, again] = sent.map(({ content }) => Buffer.from(content.messageContextInfo?.messageSecret ?? []));
    expect(first).toHaveLength(32);
    expect(again).toEqual(first);
    const [inStore] = [...stored.values()].map(({ proto: bytes = Buffer.alloc(0) }) => proto.Message.decode(bytes));
    expect(inStore?.messageContextInfo?.messageSecret).toEqual(first);
    await send('other');
    expect(Buffer.from(sent.at(-1)?.content.messageContextInfo?.messageSecret ?? [])).not.toEqual(first);
  });

  it('that cannot be stored is refused with 503 before anything is sent', async () => {
    const { sent, send } = setup([], () => Promise.reject(new Error('store full')));
    await expect(send()).rejects.toMatchObject({
      status: 503,
      details: 'the message could not be stored: it was not sent',
    });
    expect(sent).toEqual([]);
  });

  it('that failed is repeated as another message, the same one each time', async () => {
    const { sent, send, stored } = setup([() => Promise.resolve({ error: '463' })]);
    await expect(send('key')).rejects.toMatchObject({ status: 403 });
    const second = await send('key');
    const third = await send('key');
    expect(third.message.id).toBe(second.message.id);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(2);
    expect([...stored.values()].map(({ message }) => message.status)).toEqual(['failed', 'sent']);
  });
});

describe('an edit', () => {
  it('is sent as an edit for 15 minutes', async () => {
    const { sent, storeMessage, edit } = setup();
    storeMessage({ timestamp: NOW_MS / 1_000 - 900 });
    expect(await edit()).toMatchObject({ sent: true, success: true });
    expect(sent).toMatchObject([{ edit: '1' }]);
  });

  it.each([
    ['older than 15 minutes', { timestamp: NOW_MS / 1_000 - 901 }],
    ['of another author', { from_me: false }],
    ['deleted', { status: 'deleted' }],
    ['without text', { type: 'location', location: { latitude: 1, longitude: 1 } }],
  ] satisfies [string, Partial<Message>][])(
    'is refused for a message %s, before anything is sent',
    async (_, fields) => {
      const { sent, storeMessage, edit } = setup();
      storeMessage(fields);
      await expect(edit()).rejects.toMatchObject({ status: 403 });
      expect(sent).toEqual([]);
    },
  );

  it('of an unknown message is 404 naming the field', async () => {
    await expect(setup().edit()).rejects.toMatchObject({ status: 404, details: 'MessageID: no such message' });
  });
});
