import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
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

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function usedBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Bytes that one manager takes, of heap and of typed arrays. */
function bytesEach(make: () => MessageRetryManager): number {
  const before = usedBytes();
  const kept = Array.from({ length: 400 }, make);
  return (usedBytes() - before) / kept.length;
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

  it('take less than a quarter of the room while they are empty', () => {
    const laidOut = bytesEach(retryManager);
    const empty = bytesEach(growing);
    expect(laidOut).toBeGreaterThan(50_000);
    expect(empty).toBeLessThan(laidOut / 4);
  });

  it('are checked: another manager is refused', () => {
    const used = retryManager();
    used.addRecentMessage(RECIPIENT, 'A', text('one'));
    expect(() => letCachesGrow({})).toThrow('has no limited cache recentMessagesMap');
    expect(() => letCachesGrow(used)).toThrow('has no limited cache recentMessagesMap');
  });
});
