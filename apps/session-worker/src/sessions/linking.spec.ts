import { closeReason, CODES_USED_UP, PROXY_REFUSED } from '../socket/close-reasons.js';
import { Linking, LinkFailures } from './linking.js';

const LIMITS = { baseMs: 1_000, maxDelayMs: 60_000, windowMs: 600_000, maxInWindow: 3 };
const CUT = closeReason(428);

function setup() {
  const clock = { nowMs: 1_000_000 };
  const now = () => clock.nowMs;
  const failures = new LinkFailures(LIMITS, now, () => 0.999_999);
  /** The session object is another one after each attempt. */
  const linking = (channelId = 'c') => new Linking(channelId, failures, now);
  return { clock, failures, linking };
}

describe('attempts to link', () => {
  it('are made after growing delays, for every caller, and without end', () => {
    const { clock, failures, linking } = setup();
    const delays = Array.from({ length: 9 }, () => {
      linking().failed(CUT);
      const delayMs = failures.wait('c')?.forMs ?? 0;
      clock.nowMs += delayMs - 1;
      expect(() => linking().assertMayBegin(false)).toThrow();
      clock.nowMs += 1;
      linking().assertMayBegin(false);
      return delayMs;
    });
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('are refused in between with the reason and the time to retry', () => {
    const { linking } = setup();
    linking().failed(CUT);
    linking().failed(CUT);
    expect(refusal(linking())).toMatchObject({
      status: 503,
      retryAfterS: 2,
      details: 'the last attempt to link failed (connection_closed): retry in 2 s',
    });
    linking('other').assertMayBegin(false);
  });

  it('begin anew after a link, and after other settings where the proxy was the reason', () => {
    const { failures, linking } = setup();
    linking().failed(CUT);
    failures.settingsChanged('c');
    expect(failures.wait('c')).toBeDefined();
    linking().succeeded();
    linking().assertMayBegin(false);
    linking().failed(PROXY_REFUSED);
    expect(refusal(linking())).toMatchObject({ details: 'the proxy of the settings refuses the connection' });
    failures.settingsChanged('c');
    linking().assertMayBegin(false);
  });

  it('are not delayed by codes that were not scanned', () => {
    const { linking } = setup();
    linking().failed(CODES_USED_UP);
    linking().assertMayBegin(false);
    expect(refusal(linking(), true)).toMatchObject({ status: 503, retryAfterS: 1 });
  });

  it('show a code while the network takes it', () => {
    const { clock, linking } = setup();
    const tested = linking();
    tested.offer('first');
    clock.nowMs += 59_999;
    expect(tested.current?.code).toBe('first');
    clock.nowMs += 1;
    expect(tested.current).toBeUndefined();
    tested.offer('second');
    expect(tested.current).toEqual({ code: 'second', expiresAtMs: clock.nowMs + 20_000 });
    tested.clear();
    expect(tested.current).toBeUndefined();
  });
});

function refusal(linking: Linking, waited = false): unknown {
  try {
    linking.assertMayBegin(waited);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('letters to enter on a phone', () => {
  it('last as long as their pairing, are those of one number, and end with the socket', () => {
    const { clock, linking } = setup();
    const one = linking();
    expect(one.lastsForLetters).toBe(false);
    one.offer('scan');
    one.offerLetters('4915112345678', 'ABCD2345');
    clock.nowMs += 30_000;
    one.offer('scan 2');
    expect(one.lettersFor('4915112345678')).toEqual({ code: 'ABCD2345', expiresAtMs: 1_160_000 });
    expect(one.lettersFor('4915112345679')).toBeUndefined();
    clock.nowMs = 1_070_000;
    expect(one.lastsForLetters).toBe(true);
    clock.nowMs = 1_070_001;
    expect(one.lastsForLetters).toBe(false);
    clock.nowMs = 1_160_000;
    expect(one.lettersFor('4915112345678')).toBeUndefined();
    clock.nowMs = 1_100_000;
    one.clear();
    expect(one.lettersFor('4915112345678')).toBeUndefined();
  });
});
