import { DEFAULT_SETTINGS, type ChannelSettings } from '@dormouse/gateway-contract';
import type { WAMessage } from '@whiskeysockets/baileys';
import { testNetwork } from '../socket/test-network.js';
import { AutoBehaviours, type AutoBehavioursOptions } from './auto-behaviours.js';
import type { InboundContext } from './inbound-context.js';

const NOW_MS = 1_790_000_000_000;
const CHAT = '15550001111@s.whatsapp.net';

const message = (fields: Partial<WAMessage> = {}): WAMessage => ({
  key: { id: 'A1', remoteJid: CHAT, fromMe: false },
  message: { conversation: 'Hello' },
  messageTimestamp: NOW_MS / 1_000,
  ...fields,
});

describe('AutoBehaviours', () => {
  let done: string[];
  let listeners: ((update: { isOnline?: boolean }) => void)[];

  const withSettings = (settings: Partial<ChannelSettings>) => {
    done = [];
    listeners = [];
    const record = (what: string) => {
      done.push(what);
      return Promise.resolve();
    };
    const session = {
      channelId: 'CH',
      fence: { shard: 1, epoch: 1n },
      network: testNetwork({
        ev: { on: (_name: string, listen: (typeof listeners)[number]) => listeners.push(listen) },
        readMessages: (keys: { id: string }[]) => record(`read ${keys.map(({ id }) => id).join(' ')}`),
        sendPresenceUpdate: (state: string, chat?: string) => {
          if (state === 'available') listeners.forEach((listen) => listen({ isOnline: true }));
          return record(chat === undefined ? state : `${state} ${chat}`);
        },
      }),
    };
    const queue = { store: (work: () => unknown) => work(), enqueue: (work: () => unknown) => void work() };
    const writer = {
      recordRead: (_fence: object, _channel: string, ids: string[]) => record(`stored ${ids.join(' ')}`),
    };
    const inbound = { session, queue, writer } as unknown as InboundContext;
    const autoBehaviours = new AutoBehaviours({
      directory: {
        byId: () => Promise.resolve({ settings: { ...DEFAULT_SETTINGS, ...settings } }),
      } as unknown as AutoBehavioursOptions['directory'],
      wait: () => record('wait').then(() => undefined),
      now: () => NOW_MS,
    });
    autoBehaviours.attach(inbound.session);
    return {
      receive: async (...messages: WAMessage[]) => {
        await autoBehaviours.received(inbound, messages);
        for (let turn = 0; turn < 20; turn++) await Promise.resolve();
        return done;
      },
    };
  };

  it('does nothing unless the settings require it', async () => {
    expect(await withSettings({}).receive(message())).toEqual([]);
  });

  it('reads messages of others, however old, and stores them as read', async () => {
    const old = message({ key: { id: 'A2', remoteJid: CHAT, fromMe: false }, messageTimestamp: 1_000 });
    const own = message({ key: { id: 'O1', remoteJid: CHAT, fromMe: true } });
    expect(await withSettings({ auto_read: true }).receive(message(), old, own)).toEqual([
      'read A1 A2',
      'stored A1 A2',
    ]);
  });

  it('shows typing in the chat of a new message, once for each chat, and ends it', async () => {
    const again = message({ key: { id: 'A2', remoteJid: CHAT, fromMe: false } });
    const old = message({ key: { id: 'A3', remoteJid: '1@s.whatsapp.net', fromMe: false }, messageTimestamp: 1_000 });
    const sent = await withSettings({ auto_presence: 'typing' }).receive(message(), again, old);
    expect(sent).toEqual([`composing ${CHAT}`, 'wait', `paused ${CHAT}`]);
  });

  it('appears online for a while, but not in offline mode, and does not end what a request made', async () => {
    expect(await withSettings({ auto_presence: 'online' }).receive(message())).toEqual([
      'available',
      'wait',
      'unavailable',
    ]);
    expect(await withSettings({ auto_presence: 'online', offline_mode: true }).receive(message())).toEqual([]);
    const requested = withSettings({ auto_presence: 'online' });
    listeners.forEach((listen) => listen({ isOnline: true }));
    expect(await requested.receive(message())).toEqual([]);
  });
});
