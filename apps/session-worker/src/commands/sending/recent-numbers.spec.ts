import { RecentNumbers } from './recent-numbers.js';

describe('RecentNumbers', () => {
  it('forgets after a while, and the one used longest ago when there are too many', () => {
    let nowMs = 1;
    const numbers = new RecentNumbers(() => nowMs, 1_000, 2);
    numbers.set('5511987654321', '551187654321');
    nowMs = 501;
    numbers.set('15550001111', '15550001111');
    expect(numbers.get('5511987654321')).toBe('551187654321');
    nowMs = 1_002;
    expect(numbers.get('5511987654321')).toBeUndefined();
    expect(numbers.get('15550001111')).toBe('15550001111');
    numbers.set('15550002222', '15550002222');
    numbers.set('15550003333', '15550003333');
    expect(numbers.get('15550001111')).toBeUndefined();
    expect(numbers.get('15550002222')).toBe('15550002222');
  });

  it('forgets sooner that a number is unknown', () => {
    let nowMs = 1;
    const numbers = new RecentNumbers(() => nowMs, 1_000, 2, 300);
    numbers.set('15550001111', null);
    expect(numbers.get('15550001111')).toBeNull();
    nowMs = 302;
    expect(numbers.get('15550001111')).toBeUndefined();
  });
});
