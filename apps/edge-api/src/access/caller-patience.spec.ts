import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { ANSWER_WITHIN_HEADER, whenGivenUp } from './caller-patience.js';

/** A request, with a body that has arrived or is still on its way. */
function open(withinMs: string | undefined, { complete = true } = {}) {
  const raw = new IncomingMessage(new Socket());
  raw.complete = complete;
  const response = new ServerResponse(raw);
  const headers = withinMs === undefined ? {} : { [ANSWER_WITHIN_HEADER]: withinMs };
  return { raw, response, signal: whenGivenUp({ headers, raw }, { raw: response }) };
}

describe('the patience of a caller', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('ends with its connection, unless it was answered', () => {
    const [gone, answered] = [open(undefined), open(undefined)];
    answered.response.end();
    for (const { response } of [gone, answered]) response.emit('close');
    expect([gone.signal.aborted, answered.signal.aborted]).toEqual([true, false]);
  });

  it('ends when the time of the edge that passed the request on is over', () => {
    const { signal } = open('150000');
    jest.advanceTimersByTime(149_999);
    expect(signal.aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect(signal.aborted).toBe(true);
  });

  it('is counted from the end of the body, however long a large one takes on a slow way', () => {
    const { raw, signal } = open('150000', { complete: false });
    jest.advanceTimersByTime(600_000);
    expect(signal.aborted).toBe(false);
    raw.emit('end');
    jest.advanceTimersByTime(149_999);
    expect(signal.aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect(signal.aborted).toBe(true);
  });

  it.each(['', 'soon', '-1', '1e3', '1234567'])('has no end of its own when %j is given as its time', (given) => {
    const { signal } = open(given);
    jest.advanceTimersByTime(3_600_000);
    expect(signal.aborted).toBe(false);
  });
});
