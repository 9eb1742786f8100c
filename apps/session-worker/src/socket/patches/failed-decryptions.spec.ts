import { undoFailedDecryptions } from './failed-decryptions.js';
import { silenceConsole } from './silent-console.js';
import { Side } from './test-signal-sides.js';

undoFailedDecryptions();

/** The sessions that are stored, by the keys that they were begun with. */
function sessionsOf({ stored = '{}' }: Side): Record<string, { indexInfo: { closed: number } }> {
  return (JSON.parse(stored) as { _sessions: Record<string, { indexInfo: { closed: number } }> })._sessions;
}

/**
 * Both sides begin a session before they hear of the other's. Each then has both, and sends with the one that the other began.
 * @returns a message on the session that we began
 */
async function beginAtOnce() {
  const us = new Side('them');
  const them = new Side('us');
  await us.begin(them);
  await them.begin(us);
  const ours = await us.encrypt('from us');
  const theirs = await them.encrypt('from them');
  const overtaken = await them.encrypt('late');
  const second = await them.encrypt('from them, too');
  expect(await us.decrypt(theirs)).toBe('from them');
  expect(await us.decrypt(second)).toBe('from them, too');
  expect(await them.decrypt(ours)).toBe('from us');
  return { us, them, overtaken, answer: await them.encrypt('an answer') };
}

describe('undoFailedDecryptions', () => {
  let nowMs = 0;
  let restoreConsole: () => void;

  // libsignal prints the sessions that it closes, with their keys.
  beforeAll(() => {
    restoreConsole = silenceConsole({ debug: () => undefined });
  });
  afterAll(() => restoreConsole());

  beforeEach(() => {
    // The session used last is tried first: no two are used in the same millisecond.
    jest.spyOn(Date, 'now').mockImplementation(() => (nowMs += 1));
  });
  afterEach(() => jest.restoreAllMocks());

  it('lets both sides go on reading each other when they have begun a session at the same time', async () => {
    const { us, them, answer } = await beginAtOnce();
    expect(await us.decrypt(answer)).toBe('an answer');
    expect(await them.decrypt(await us.encrypt('our next'))).toBe('our next');
    expect(await us.decrypt(await them.encrypt('their next'))).toBe('their next');
    expect(await them.decrypt(await us.encrypt('our last'))).toBe('our last');
  });

  it('stores a session that was tried in vain as it was, with the keys of messages that are still to come', async () => {
    const { us, overtaken, answer } = await beginAtOnce();
    await us.encrypt('a turn');
    const before = sessionsOf(us);
    await us.decrypt(answer);
    const after = sessionsOf(us);
    const open = Object.keys(before).filter((key) => before[key]?.indexInfo.closed === -1);
    expect(open).toHaveLength(1);
    for (const key of open) expect(after[key]).toEqual(before[key]);
    expect(await us.decrypt(overtaken)).toBe('late');
  });
});
