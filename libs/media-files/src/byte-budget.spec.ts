import { ByteBudget } from './byte-budget.js';

const refusal = expect.objectContaining({
  status: 503,
  details: 'too much at once: try again later',
  retryAfterS: 5,
}) as Error;
const budget = () => new ByteBudget({ totalBytes: 100, perOwnerBytes: 60, refusal: 'too much at once' });

describe('ByteBudget', () => {
  it('refuses what would exceed the total, and changes nothing by it', () => {
    const shared = budget();
    shared.open('a').hold(60);
    const other = shared.open('b');
    other.hold(30);
    expect(() => other.hold(11)).toThrow(refusal);
    expect(shared.heldBytes).toBe(90);
    other.hold(10);
    expect(shared.heldBytes).toBe(100);
  });

  it('leaves to others what one owner may not have', () => {
    const shared = budget();
    shared.open('a').hold(40);
    expect(() => shared.open('a').hold(21)).toThrow(refusal);
    shared.open('b').hold(21);
  });

  it('gives back exactly what was held, once', () => {
    const shared = budget();
    const first = shared.open('a');
    const second = shared.open('a');
    first.hold(20);
    second.hold(30);
    first.release();
    first.release();
    expect(shared.heldBytes).toBe(30);
    second.release();
    expect(shared.heldBytes).toBe(0);
    shared.open('a').hold(60);
  });
});
