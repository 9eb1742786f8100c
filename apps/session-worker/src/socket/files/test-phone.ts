/** For specs: the own phone, as far as a socket requests files from it. */
import type { BaileysEventEmitter, BaileysEventMap, BinaryNode } from '@whiskeysockets/baileys';
import type { MediaRetrySocket } from './reupload-request.js';

/** @param answer called with each request of a file; `emit` sends the phone's updates */
export function phone(
  answer: (node: BinaryNode, emit: (update: BaileysEventMap['messages.media-update']) => void) => void,
) {
  const listeners = new Map<keyof BaileysEventMap, Set<(value: never) => void>>();
  const ev: Pick<BaileysEventEmitter, 'on' | 'off'> = {
    on: (event, listener) => void listeners.set(event, (listeners.get(event) ?? new Set()).add(listener)),
    off: (event, listener) => void listeners.get(event)?.delete(listener),
  };
  const emit = <E extends keyof BaileysEventMap>(event: E, value: BaileysEventMap[E]) => {
    for (const listener of listeners.get(event) ?? []) (listener as (value: BaileysEventMap[E]) => void)(value);
  };
  const socket: MediaRetrySocket = {
    authState: { creds: { me: { id: '15550009999:7@s.whatsapp.net' } } },
    ev,
    sendNode: (node) => Promise.resolve(answer(node, (updates) => emit('messages.media-update', updates))),
  };
  return { socket, emit, listening: () => [...listeners.values()].reduce((sum, set) => sum + set.size, 0) };
}
