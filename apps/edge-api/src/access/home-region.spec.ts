import type { GatewayError } from '@dormouse/gateway-contract';
import { homeOf } from './home-region.js';

const refusal = (facts: Partial<GatewayError>): Error => expect.objectContaining(facts) as Error;
const hosts = { sg: 'https://sg.example.com', eu: 'https://eu.example.com' };
const requestTo = (host: string, headers = {}) => ({ headers: { host, ...headers } });

describe('homeOf', () => {
  it('keeps a request whose token is of this region, on whatever host it came', () => {
    expect(homeOf(requestTo('api.example.com'), { home: 'sg', here: 'sg', hosts })).toBeUndefined();
    expect(homeOf(requestTo('sg.example.com'), { home: 'sg', here: 'sg', hosts })).toBeUndefined();
  });

  it('sends one of another region from the common host to that region', () => {
    expect(homeOf(requestTo('api.example.com'), { home: 'eu', here: 'sg', hosts })).toBe('https://eu.example.com');
  });

  it('refuses it on a pinned host, in whatever case it is written, naming the right one', () => {
    for (const host of ['sg.example.com', 'SG.Example.COM']) {
      expect(() => homeOf(requestTo(host), { home: 'eu', here: 'sg', hosts })).toThrow(
        refusal({ status: 401, details: 'the token belongs to region eu: use eu.example.com' }),
      );
    }
  });

  it('refuses it where the region has no host, and where it was passed on already', () => {
    expect(() => homeOf(requestTo('api.example.com'), { home: 'usw', here: 'sg', hosts })).toThrow(
      refusal({ status: 401 }),
    );
    expect(() =>
      homeOf(requestTo('api.example.com', { 'x-dormouse-forwarded-by': 'use' }), { home: 'eu', here: 'sg', hosts }),
    ).toThrow(refusal({ status: 401 }));
  });
});
