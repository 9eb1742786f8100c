import { numberIn, numbersIn } from './numbers.js';

describe('numbers as people type them', () => {
  it.each([
    ['+65 9000 0001', ['6590000001']],
    ['+65 9000 0001 +65 9000-0002', ['6590000001', '6590000002']],
    ['(65) 9000.0001, 6590000002;6590000003\n+6590000004', ['6590000001', '6590000002', '6590000003', '6590000004']],
    ['6590000001 6590000002', ['6590000001', '6590000002']],
    ['6590000001, +65 9000 0001', ['6590000001']],
    ['', []],
  ])('%j are %j', (text, numbers) => {
    expect(numbersIn(text)).toEqual(numbers);
  });

  it.each([
    ['Bob', 'Bob is not a phone number.'],
    ['6590000001, Bob', 'Bob is not a phone number.'],
    ['123', '123 is not a phone number.'],
  ])('%j is refused by name', (text, sentence) => {
    expect(() => numbersIn(text)).toThrow(sentence);
  });

  it('a field for one number refuses none and two', () => {
    expect(numberIn(' +65 9000 0001 ')).toBe('6590000001');
    expect(() => numberIn(' ')).toThrow('Type a phone number.');
    expect(() => numberIn('6590000001, 6590000002')).toThrow('Type one number only.');
  });
});
