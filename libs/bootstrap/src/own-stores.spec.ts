import { requireOwnStores } from './own-stores.js';

const check =
  (what: string, ...addresses: [string, string][]) =>
  () =>
    requireOwnStores('REGIONS', what, addresses);

describe('requireOwnStores', () => {
  it('takes regions on one server with databases of their own', () => {
    expect(check('database', ['sg', 'postgresql://a@db/sg'], ['eu', 'postgresql://a@db/eu'])).not.toThrow();
    expect(check('Redis', ['sg', 'redis://cache'], ['eu', 'redis://cache/1'])).not.toThrow();
  });

  it.each<[string, string, string]>([
    ['database', 'postgresql://a:b@DB.example.com/x', 'postgres://c@db.example.com:5432/x?sslmode=require'],
    ['Redis', 'redis://cache', 'redis://:p@cache:6379/0'],
  ])('refuses two with the same %s, however its address is written, and repeats no password', (what, one, other) => {
    expect(check(what, ['sg', one], ['eu', other])).toThrow(
      `the environment is not usable:\n  REGIONS: sg and eu have the same ${what}; every region needs its own`,
    );
  });
});
