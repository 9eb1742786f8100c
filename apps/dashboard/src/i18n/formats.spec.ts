import { formatsOf } from './formats.js';

describe('amounts', () => {
  it('are written in the unit of their currency, as the language does', () => {
    expect(formatsOf('en').money(400, 'usd')).toBe('$4.00');
    expect(formatsOf('es').money(123_456, 'eur').replace(/\s/g, ' ')).toBe('1234,56 €');
    expect(formatsOf('en').money(500, 'jpy')).toBe('¥500');
  });
});
