/**
 * What the changes made to each socket rest on is looked for when the worker starts: members of the library that are no part of
 * its documented interface, and that another version may name otherwise.
 */
import { Agent } from 'node:https';
import {
  DEFAULT_CONNECTION_CONFIG,
  initAuthCreds,
  makeWASocket,
  MessageRetryManager,
  processSyncAction,
  type WASocket,
} from '@whiskeysockets/baileys';
import { libraryLog } from '../library-log.js';

/** Paths of functions in a socket, each with the file here that rests on it. */
const FUNCTIONS: readonly (readonly [path: string, file: string])[] = [
  ['ws.socket.send', 'outbound-frame-gate'],
  ['ws.socket.terminate', 'live-session'],
  [
    'ws.prependListener',
    'inbound-journal, answer-when-stored, played-receipts, view-once-notices, newcomer-notices, device-notices',
  ],
  ['ws.removeAllListeners', 'live-session'],
  ['ev.emit', 'prompt-event-flush, newcomer-notices'],
  ['ev.flush', 'prompt-event-flush, shared-state-changes'],
  ['ev.buffer', 'shared-state-changes'],
  ['ev.isBuffering', 'prompt-event-flush, event-delivery'],
  ['messageMutex.mutex', 'inbound-journal, live-session'],
  ['receiptMutex.mutex', 'answer-when-stored'],
  ['notificationMutex.mutex', 'answer-when-stored'],
  ['authState.keys.transaction', 'signal-transactions, tctoken-writes, shared-state-journal'],
  ['signalRepository.decryptMessage', 'inbound-journal'],
  ['signalRepository.decryptGroupMessage', 'inbound-journal'],
  ['signalRepository.encryptMessage', 'encryption-barrier'],
  ['signalRepository.encryptGroupMessage', 'encryption-barrier'],
];

const silent = libraryLog({ debug: () => undefined });

/** The cache in which the library keeps sent messages; of the class of all its caches. */
export function cacheOfTheLibrary(): unknown {
  return Reflect.get(new MessageRetryManager(silent, 1), 'recentMessagesMap');
}

/**
 * @throws {Error} naming what is missing and what rests on it; a worker that goes on without would lose messages
 */
export function assertLibraryShape(): void {
  const socket = socketWithoutNetwork();
  try {
    assertSocketShape(socket);
  } finally {
    void socket.end(undefined);
  }
  assertSharedChangesAreLogged();
}

/** @throws {Error} when the library's socket lacks a function that a change of it rests on */
export function assertSocketShape(socket: object): void {
  for (const [path, file] of FUNCTIONS) {
    if (typeof memberAt(socket, path) !== 'function') throw missing(path, file);
  }
  if (typeof memberAt(socket, 'messageRetryManager.maxMsgRetryCount') !== 'number') {
    throw missing('messageRetryManager.maxMsgRetryCount', 'open-socket');
  }
}

/** @throws {Error} when the library no longer hands a change of the shared state to its log before it handles it */
function assertSharedChangesAreLogged(): void {
  let isLogged = false;
  const index = ['clearChat', '0@s.whatsapp.net', '1', '0'];
  const log = libraryLog({ debug: () => undefined }, () => (isLogged = true));
  const ev = { emit: () => true, buffer: () => undefined } as unknown;
  processSyncAction(
    { syncAction: { value: { clearChatAction: {} } }, index },
    ev as Parameters<typeof processSyncAction>[1],
    { id: '0@s.whatsapp.net' },
    undefined,
    log,
  );
  if (!isLogged) throw missing('the log of shared changes', 'library-log');
}

function missing(path: string, file: string): Error {
  return new Error(
    `Baileys has no ${path}, on which ${file} rests: see socket/patches/README.md before its version changes`,
  );
}

function memberAt(root: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (at, name) => (typeof at === 'object' && at !== null ? (Reflect.get(at, name) as unknown) : undefined),
      root,
    );
}

/** Requests through it never begin. */
class NoConnections extends Agent {
  addRequest(): void {
    // The socket is ended before it could time out.
  }
}

function socketWithoutNetwork(): WASocket {
  return makeWASocket({
    ...DEFAULT_CONNECTION_CONFIG,
    auth: { creds: initAuthCreds(), keys: { get: () => ({}), set: () => undefined } },
    logger: silent,
    waWebSocketUrl: 'wss://127.0.0.1:9',
    agent: new NoConnections(),
  });
}
