import { DueTimes } from './due-times.js';

describe('due times', () => {
  it('come up in order of time, those of one second in the order they were added', () => {
    const due = new DueTimes();
    for (const [at, id] of [
      [5, 'c'],
      [1, 'a'],
      [5, 'd'],
      [3, 'b'],
      [9, 'e'],
    ] as const)
      due.add({ at, id });
    const taken = [];
    for (let one = due.take(5); one; one = due.take(5)) taken.push(one.id);
    expect(taken).toEqual(['a', 'b', 'c', 'd']);
    expect(due.take(8)).toBeUndefined();
    expect(due.take(9)?.id).toBe('e');
  });
});
