import { makeEventBuffer, type WAMessage } from '@whiskeysockets/baileys';
import { libraryLog } from '../library-log.js';
import { flushEventBufferPromptly } from './prompt-event-flush.js';

const message = (id: string): WAMessage => ({ key: { id, remoteJid: '6590000001@s.whatsapp.net' } }) as WAMessage;

describe('events of the library', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  function buffer({ waited = [] as string[], isSetUp = true } = {}) {
    const ev = makeEventBuffer(libraryLog({ debug: () => undefined }));
    flushEventBufferPromptly(ev, { hasWaited: ({ key }) => waited.includes(key.id ?? ''), isSetUp: () => isSetUp });
    const received: string[] = [];
    ev.on('messages.upsert', ({ messages }) => received.push(...messages.map(({ key }) => key.id ?? '')));
    ev.on('chats.update', (chats) => received.push(...chats.map(({ id }) => id ?? '')));
    /** What the library does with a message from its queue of offline stanzas. */
    const handle = (id: string, work: Promise<unknown> = Promise.resolve()) =>
      ev.createBufferedFunction(async () => {
        ev.emit('messages.upsert', { messages: [message(id)], type: 'append' });
        await work;
      })();
    const change = (id: string) => ev.createBufferedFunction(async () => ev.emit('chats.update', [{ id }]))();
    /** Leaves the buffer with a timer that fired while nothing was buffered. */
    const spoil = async () => {
      let end: (value?: unknown) => void = () => undefined;
      const handled = handle('spoilt', new Promise((resolve) => (end = resolve)));
      ev.flush();
      end();
      await handled;
      await jest.advanceTimersByTimeAsync(200);
      received.length = 0;
    };
    return { ev, received, handle, change, spoil };
  }

  it('that bring a message go at once', async () => {
    const { received, handle } = buffer();
    await handle('M1');
    await jest.advanceTimersByTimeAsync(0);
    expect(received).toEqual(['M1']);
  });

  it('that bring messages of a backlog go together', async () => {
    const { received, handle } = buffer({ waited: ['M1', 'M2'] });
    await handle('M1');
    await jest.advanceTimersByTimeAsync(50);
    await handle('M2');
    expect(received).toEqual([]);
    await jest.advanceTimersByTimeAsync(50);
    expect(received).toEqual(['M1', 'M2']);
  });

  it('go in time when the timer of the buffer is used up', async () => {
    const { received, handle, change, spoil } = buffer({ waited: ['M1'] });
    await spoil();
    await handle('M1');
    await change('chat');
    await jest.advanceTimersByTimeAsync(100);
    expect(received.sort()).toEqual(['M1', 'chat']);
    await spoil();
    await handle('M2');
    await jest.advanceTimersByTimeAsync(0);
    expect(received).toEqual(['M2']);
  });

  it('wait for the history while a device is new, but for messages', async () => {
    const { ev, received, handle } = buffer({ isSetUp: false });
    ev.buffer();
    ev.emit('chats.update', [{ id: 'chat' }]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(received).toEqual([]);
    await handle('M1');
    await jest.advanceTimersByTimeAsync(0);
    expect(received).toContain('M1');
  });
});
