import { MessageRetryManager, type proto } from '@whiskeysockets/baileys';
import { libraryLog } from '../library-log.js';
import { letCachesGrow } from './growing-caches.js';

const KEPT_MESSAGES = 512;
const KEPT_KEYS = 1024;
const RECIPIENT = '15550001111@s.whatsapp.net';

const made: MessageRetryManager[] = [];

function retryManager(): MessageRetryManager {
  const retries = new MessageRetryManager(libraryLog({ debug: () => undefined }), 5);
  made.push(retries);
  return retries;
}

function growing(): MessageRetryManager {
  const retries = retryManager();
  letCachesGrow(retries);
  return retries;
}

const text = (conversation: string): proto.IMessage => ({ conversation });

/** Parts of an lru-cache that hold one element per entry, or per entry that it has room for. */
const ARRAYS = ['keyList', 'valList', 'next', 'prev', 'starts', 'ttls', 'autopurgeTimers', 'sizes'] as const;

/** Elements that the arrays of one manager's two caches have, by lru-cache's own view of them. */
function laidOut(retries: MessageRetryManager): number {
  const caches = ['recentMessagesMap', 'baseKeys'].map((name) => Reflect.get(retries, name) as object);
  const arrays = caches.flatMap((cache) => {
    const expose: unknown = Reflect.get(cache.constructor, 'unsafeExposeInternals');
    if (typeof expose !== 'function') throw new Error('lru-cache shows its arrays no longer');
    const parts = Reflect.apply(expose, undefined, [cache]) as object;
    return ARRAYS.map((name) => Reflect.get(parts, name) as ArrayLike<unknown> | undefined);
  });
  return arrays.reduce((sum, array) => sum + (array?.length ?? 0), 0);
}

afterEach(() => {
  for (const retries of made.splice(0)) retries.clear();
});

describe("a socket's caches of sent messages and of keys", () => {
  it('return what was put in, and forget it when it is removed', () => {
    const retries = growing();
    retries.addRecentMessage(RECIPIENT, 'A', text('one'));
    retries.saveBaseKey('1:0', 'A', Buffer.from([1]));
    expect(retries.getRecentMessage(RECIPIENT, 'A')?.message).toEqual(text('one'));
    expect(retries.hasSameBaseKey('1:0', 'A', Buffer.from([1]))).toBe(true);
    retries.markRetrySuccess('A');
    retries.deleteBaseKey('1:0', 'A');
    expect(retries.getRecentMessage(RECIPIENT, 'A')).toBeUndefined();
    expect(retries.hasSameBaseKey('1:0', 'A', Buffer.from([1]))).toBe(false);
  });

  it('keep as many entries as the library limits them to, the newest', () => {
    const retries = growing();
    for (let index = 0; index <= KEPT_MESSAGES; index++) retries.addRecentMessage(RECIPIENT, `${index}`, text('x'));
    for (let index = 0; index <= KEPT_KEYS; index++) retries.saveBaseKey('1:0', `${index}`, Buffer.from([1]));
    expect(retries.getRecentMessage(RECIPIENT, '0')).toBeUndefined();
    expect(retries.getRecentMessage(RECIPIENT, '1')).toBeDefined();
    expect(retries.getRecentMessage(RECIPIENT, `${KEPT_MESSAGES}`)).toBeDefined();
    expect(retries.hasSameBaseKey('1:0', '0', Buffer.from([1]))).toBe(false);
    expect(retries.hasSameBaseKey('1:0', '1', Buffer.from([1]))).toBe(true);
  });

  it('drop the index of a message with the message', () => {
    const retries = growing();
    for (let index = 0; index <= KEPT_MESSAGES; index++) retries.addRecentMessage(RECIPIENT, `${index}`, text('x'));
    const index: unknown = Reflect.get(retries, 'messageKeyIndex');
    expect(index).toBeInstanceOf(Map);
    expect((index as Map<string, string>).size).toBe(KEPT_MESSAGES);
  });

  it('have no array elements while they are empty, where the library lays out thousands', () => {
    expect(laidOut(retryManager())).toBeGreaterThan(7 * KEPT_KEYS);
    expect(laidOut(growing())).toBe(0);
  });

  it('have array elements for the entries that were put in', () => {
    const retries = growing();
    for (let index = 0; index < 10; index++) retries.saveBaseKey('1:0', `${index}`, Buffer.from([1]));
    expect(laidOut(retries)).toBeGreaterThan(0);
    expect(laidOut(retries)).toBeLessThanOrEqual(10 * ARRAYS.length);
  });

  it('are checked: another manager is refused', () => {
    const used = retryManager();
    used.addRecentMessage(RECIPIENT, 'A', text('one'));
    expect(() => letCachesGrow({})).toThrow('has no limited cache recentMessagesMap');
    expect(() => letCachesGrow(used)).toThrow('has no limited cache recentMessagesMap');
  });
});
