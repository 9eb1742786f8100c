/**
 * Every change made to Baileys, libsignal, lru-cache and Node, in the order in which they are made. README.md states why each
 * is needed and how its absence would show.
 *
 * What it guarantees: each change asserts that what it changes is there, and the worker does not start otherwise; none is left
 * out silently.
 */
import type { SignalKeyStore, SignalKeyStoreWithTransaction, SocketConfig, WASocket } from '@whiskeysockets/baileys';
import type { InboundJournal } from '../inbound-journal.js';
import { answerWhenStored } from './answer-when-stored.js';
import { passKeysAsObjects } from './crypto-key-objects.js';
import { correctBothDeviceLists } from './device-notices.js';
import type { EncryptionBarrier } from './encryption-barrier.js';
import { undoFailedDecryptions } from './failed-decryptions.js';
import { keepContextInLibsignalQueue } from './libsignal-queue.js';
import { assertLibraryShape, cacheOfTheLibrary } from './library-shape.js';
import { detachCacheTimers } from './lru-cache-timers.js';
import { distinguishNewcomerNotices } from './newcomer-notices.js';
import type { PlayedReceipts } from './played-receipts.js';
import { flushEventBufferPromptly, type PromptFlushOptions } from './prompt-event-flush.js';
import { compareCertificates } from './server-certificate.js';
import { serializeSignalTransactions } from './signal-transactions.js';
import { checkSignatures } from './signatures.js';
import { silenceConsole, type ConsoleWitness } from './silent-console.js';
import { removeSpentChains } from './spent-chains.js';
import { writeTcTokensDirectly } from './tctoken-writes.js';
import { keepViewOnceNotices } from './view-once-notices.js';

let isApplied = false;

/**
 * The changes of the whole process; called once, by `main.ts`, before anything else.
 * @throws {Error} when something that is changed is not there
 */
export function applyPatches(log: ConsoleWitness): void {
  silenceConsole(log);
  // Baileys takes a stack trace for each stanza it sends; through source maps that costs more than the rest of a receipt.
  process.setSourceMapsEnabled(false);
  passKeysAsObjects();
  applyLibraryPatches();
  assertLibraryShape();
}

/** Those of them that libraries need; repeated calls do nothing. */
export function applyLibraryPatches(): void {
  if (isApplied) return;
  checkSignatures();
  compareCertificates();
  keepContextInLibsignalQueue();
  removeSpentChains();
  undoFailedDecryptions();
  detachCacheTimers(cacheOfTheLibrary());
  isApplied = true;
}

/** @throws {Error} before {@link applyPatches}: no socket may open without them */
export function requirePatches(): void {
  if (!isApplied) throw new Error('the network library is not patched yet: applyPatches() comes first');
}

export interface RepositoryPatches {
  /** The product's store below the library's transactions. */
  readonly store: SignalKeyStore;
  readonly journal: Pick<InboundJournal, 'makeSignalRepository'>;
  readonly barrier: Pick<EncryptionBarrier, 'guard'>;
}

/**
 * The changes of one socket's key store and encryption, made while the library builds them: transactions first, since the
 * journal opens transactions of its own; the barrier last, around everything.
 */
export function patchedSignalRepository({
  store,
  journal,
  barrier,
}: RepositoryPatches): SocketConfig['makeSignalRepository'] {
  return (state, logger, pnToLid) => {
    const keys = transactional(state.keys);
    serializeSignalTransactions(keys);
    writeTcTokensDirectly(keys, store);
    const repository = journal.makeSignalRepository(state, logger, pnToLid);
    barrier.guard(repository);
    return repository;
  };
}

function transactional(keys: SignalKeyStore | SignalKeyStoreWithTransaction): SignalKeyStoreWithTransaction {
  if (!('transaction' in keys)) throw new Error('the key store of the library has no transactions');
  return keys;
}

export interface StanzaPatches extends PromptFlushOptions {
  readonly journal: Pick<InboundJournal, 'watch' | 'follow'>;
  readonly played: Pick<PlayedReceipts, 'watch'>;
  /** Resolves when everything that was emitted so far is stored; false when something could not be. */
  readonly stored: () => Promise<boolean>;
  /** Nothing is sent to the network before this write has ended well. */
  readonly hold: (write: Promise<void>) => void;
}

/**
 * The changes of what one socket receives and emits, after the product's own listeners are attached. Listeners of stanzas are put
 * before those that are there: the last one here sees a stanza first.
 */
export function patchStanzas(
  socket: WASocket,
  { journal, played, stored, hold, hasWaited, isSetUp }: StanzaPatches,
): void {
  distinguishNewcomerNotices(socket);
  correctBothDeviceLists(socket);
  flushEventBufferPromptly(socket.ev, { hasWaited, isSetUp });
  journal.watch(socket, hold);
  journal.follow(socket, stored);
  played.watch(socket);
  answerWhenStored(socket, async () => !isSetUp() || stored());
  keepViewOnceNotices(socket);
}
