import { Passwords, requireStrong } from './passwords.js';

describe('Passwords', () => {
  it('computes many hashes a few at a time and refuses those beyond 200 that wait with 503 and Retry-After', async () => {
    const passwords = new Passwords();
    const begun = Array.from({ length: 202 }, () => passwords.verify('no hash', 'x').catch(() => false));
    expect(() => passwords.hash('one more')).toThrow(
      expect.objectContaining({ status: 503, retryAfterS: 5, message: 'too many sign-ins at once' }) as Error,
    );
    await Promise.all(begun);
    const hash = await passwords.hash('violet tractor sings 42');
    expect([await passwords.verify(hash, 'violet tractor sings 42'), await passwords.verify(hash, 'another')]).toEqual([
      true,
      false,
    ]);
  });

  it('leaves the event loop free while it computes', async () => {
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 1);
    await Promise.all(Array.from({ length: 4 }, () => new Passwords().hash('violet tractor sings 42')));
    clearInterval(counting);
    expect(turns).toBeGreaterThan(2);
  });
});

describe('requireStrong', () => {
  it.each(['violet tractor sings 42', 'nine green kettles hum', 'Zx9#mQ2!vLp7'])('takes %s', (password) => {
    expect(() => requireStrong(password, ['Ada'])).not.toThrow();
  });

  it.each([
    'password1234',
    'qwertyuiop',
    '1234567890',
    'ada@example.com',
    'AdaLovelace',
    'eve.smith2026',
    'adalovelace99',
  ])('refuses %s', (password) => {
    expect(() => requireStrong(password, ['Ada Lovelace', 'eve.smith@example.com'])).toThrow(
      expect.objectContaining({ status: 400, details: expect.stringMatching(/^password: /) as string }) as Error,
    );
  });
});
