import { setImmediate as turn } from 'node:timers/promises';
import { DEFAULT_CONNECTION_CONFIG, makeEventBuffer } from '@whiskeysockets/baileys';
import { EventDelivery } from './event-delivery.js';

function setup({ isSetUp }: { isSetUp: boolean }) {
  const ev = makeEventBuffer(DEFAULT_CONNECTION_CONFIG.logger);
  const given: string[] = [];
  ev.process((events) => void given.push(...Object.keys(events)));
  const delivery = new EventDelivery(ev, () => isSetUp);
  const emit = () => ev.emit('chats.update', [{ id: '1@s.whatsapp.net', archived: true }]);
  return { ev, given, delivery, emit };
}

describe('EventDelivery', () => {
  it('hurries what the library has gathered once the device is set up', async () => {
    const { ev, given, delivery, emit } = setup({ isSetUp: true });
    ev.buffer();
    emit();
    const all = delivery.all();
    expect(given).toEqual([]);
    await all;
    expect(given).toEqual(['chats.update']);
  });

  it('waits for the library while a device is being linked, and takes no other event for the end of that', async () => {
    const { ev, given, delivery, emit } = setup({ isSetUp: false });
    ev.buffer();
    emit();
    let isOver = false;
    const all = delivery.all().then(() => (isOver = true));
    ev.emit('connection.update', { isOnline: true });
    await turn();
    expect(isOver).toBe(false);
    ev.flush();
    await all;
    expect(given).toEqual(['connection.update', 'chats.update']);
  });

  it('has nothing to wait for when nothing is gathered', async () => {
    const { delivery, emit } = setup({ isSetUp: false });
    emit();
    await delivery.all();
  });
});
