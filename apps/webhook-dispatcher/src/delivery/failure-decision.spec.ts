import { backoffMs, decideFailure, type FailedAttempt, type WebhookSituation } from './failure-decision.js';

const settings = { callback_backoff_delay_ms: 3_000, max_callback_backoff_delay_ms: 600_000, callback_persist: true };
const HOUR_MS = 3_600_000;

const decide = (attempt: Partial<FailedAttempt>, webhook: Partial<WebhookSituation> = {}) =>
  decideFailure(
    {
      answer: 'refused',
      attempts: 1,
      failingForMs: 0,
      waitedMs: 0,
      aliveSince: false,
      isSetAside: false,
      ...attempt,
    },
    { settings, refusals: 1, heldConversations: 0, deadAfterMs: 72 * HOUR_MS, random: () => 0, ...webhook },
  );

describe('backoffMs', () => {
  it('grows by the delay with every failed attempt, up to the cap', () => {
    expect([1, 2, 3, 199, 200, 201, 5_000].map((attempts) => backoffMs(settings, attempts, () => 0))).toEqual([
      3_000, 6_000, 9_000, 597_000, 600_000, 600_000, 600_000,
    ]);
  });

  it('is up to a tenth longer, so that receivers that failed together are not called again together', () => {
    expect([0, 0.5, 1].map((part) => Math.round(backoffMs(settings, 200, () => part)))).toEqual([
      600_000, 630_000, 660_000,
    ]);
  });
});

describe('a failed attempt', () => {
  it('of an event that is refused leaves other conversations alone', () => {
    expect(decide({})).toEqual({ outcome: 'failed', waitMs: 3_000, pauses: false });
    expect(decide({ attempts: 40, failingForMs: HOUR_MS })).toMatchObject({ outcome: 'failed', pauses: false });
  });

  it.each([
    ['that is not answered', { answer: 'unanswered' as const }, {}],
    ['of the third event refused in a row', {}, { refusals: 3 }],
    ['where a thousand conversations wait', {}, { heldConversations: 1_000 }],
  ])('%s holds up the whole webhook', (_which, attempt, webhook) => {
    expect(decide(attempt, webhook)).toMatchObject({ outcome: 'failed', pauses: true });
  });

  it('holds up its conversation only, however it fails, once the receiver has accepted another event since', () => {
    const webhook = { refusals: 3, heldConversations: 1_000 };
    for (const answer of ['refused', 'unanswered'] as const)
      expect(decide({ answer, aliveSince: true, attempts: 2 }, webhook)).toMatchObject({
        outcome: 'failed',
        pauses: false,
      });
  });

  it.each([
    ['the tenth', { attempts: 10 }, { attempts: 9 }],
    ['one after 15 minutes', { attempts: 3, failingForMs: 900_000 }, { attempts: 3, failingForMs: 899_999 }],
  ])('is the last that its conversation waits for if it is %s and the receiver lives', (_which, last, before) => {
    expect(decide({ ...before, aliveSince: true }).outcome).toBe('failed');
    expect(decide({ ...last, aliveSince: true })).toMatchObject({ outcome: 'set_aside', pauses: false });
    expect(decide({ ...last, aliveSince: true, answer: 'unanswered' }).outcome).toBe('set_aside');
    expect(decide({ ...last, aliveSince: false }).outcome).toBe('failed');
  });

  it('of an event that was set aside is followed by another, after a longer pause, for 72 h', () => {
    const aside = { isSetAside: true, answer: 'unanswered' as const };
    expect(decide({ ...aside, attempts: 50 })).toEqual({ outcome: 'set_aside', waitMs: 150_000, pauses: false });
    expect(decide({ ...aside, attempts: 99, waitedMs: 72 * HOUR_MS }).outcome).toBe('dead');
  });

  it('after 72 h makes a dead letter; the third drops the event where none are to be kept', () => {
    expect(decide({ waitedMs: 72 * HOUR_MS })).toEqual({ outcome: 'dead', waitMs: 0, pauses: false });
    const unkept = { settings: { ...settings, callback_persist: false } };
    expect([1, 2, 3].map((attempts) => decide({ attempts }, unkept).outcome)).toEqual(['failed', 'failed', 'dropped']);
  });
});
