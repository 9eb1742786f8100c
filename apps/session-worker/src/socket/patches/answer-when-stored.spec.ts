import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { makeMutex } from '@whiskeysockets/baileys/lib/Utils/make-mutex.js';
import type { WASocket } from '@whiskeysockets/baileys';
import { answerWhenStored } from './answer-when-stored.js';
import { deferred } from '../deferred.js';

function setup(stored: () => Promise<boolean>) {
  const ws = new EventEmitter();
  const socket: unknown = { receiptMutex: makeMutex(), notificationMutex: makeMutex(), ws };
  answerWhenStored(socket as WASocket, stored);
  return { ws, socket: socket as WASocket };
}

describe('answerWhenStored', () => {
  it.each(['receiptMutex', 'notificationMutex'] as const)('answers after the stores have it: %s', async (name) => {
    const written = deferred<boolean>();
    const { socket } = setup(() => written.promise);
    const steps: string[] = [];
    const answered = socket[name].mutex(() => void steps.push('emitted')).then(() => steps.push('answered'));
    await turn();
    expect(steps).toEqual(['emitted']);
    written.resolve(true);
    await answered;
    expect(steps).toEqual(['emitted', 'answered']);
  });

  it('never answers what could not be stored', async () => {
    const { socket } = setup(() => Promise.resolve(false));
    let answered = false;
    void socket.receiptMutex.mutex(() => undefined).then(() => (answered = true));
    await turn();
    await turn();
    expect(answered).toBe(false);
  });

  it('answers what the library could not handle: it would come again and again', async () => {
    const { socket } = setup(() => Promise.resolve(false));
    await expect(socket.notificationMutex.mutex(() => Promise.reject(new Error('odd')))).rejects.toThrow('odd');
  });

  it('handles the next receipt while one waits for the stores', async () => {
    const { socket } = setup(() => new Promise(() => undefined));
    const handled: number[] = [];
    for (const number of [1, 2, 3]) void socket.receiptMutex.mutex(() => void handled.push(number));
    await turn();
    expect(handled).toEqual([1, 2, 3]);
  });

  it('lets receipts of the time away pass beside each other', () => {
    const { ws } = setup(() => Promise.resolve(true));
    const receipt = { attrs: { id: 'a', offline: '3' } };
    ws.emit('CB:receipt', receipt);
    expect(receipt.attrs).toEqual({ id: 'a' });
  });
});
