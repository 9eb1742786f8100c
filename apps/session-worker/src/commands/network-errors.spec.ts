import { GatewayError } from '@dormouse/gateway-contract';
import { Boom } from '@hapi/boom';
import { networkError, refusedMessage } from './network-errors.js';

describe('network errors', () => {
  it.each([
    ['403', 403, 'the network does not permit this message in this chat'],
    ['404', 404, 'the network does not know the recipient'],
    ['463', 403, 'recipient refused by the network'],
    ['479', 502, 'the network refused the form of the message'],
    ['500', 502, 'refused by the network'],
    ['what?', 502, 'refused by the network'],
  ])('a message refused with %s is a %i', (code, status, details) => {
    expect(refusedMessage(code)).toMatchObject({ status, details });
  });

  it('of a rate limit of the network include when to try again', () => {
    expect(refusedMessage('429')).toMatchObject({ status: 429, retryAfterS: 30 });
  });

  it("follow from the code in the network's answer to a query", () => {
    expect(networkError(new Boom('item-not-found', { data: 404 }))).toMatchObject({ status: 404 });
    expect(networkError(new Boom('forbidden', { data: 403 }))).toMatchObject({ status: 403 });
    expect(networkError(new Boom('odd', { data: 477 }))).toMatchObject({ status: 502 });
  });

  it('are 502 for a connection that dropped, because the message may have been sent', () => {
    expect(networkError(new Boom('Connection Closed', { statusCode: 428 }))).toMatchObject({ status: 502 });
  });

  it('are only those that came from the network', () => {
    expect(networkError(new TypeError('x'))).toBeUndefined();
    expect(networkError(new Boom('bad', { statusCode: 400 }))).toBeUndefined();
    expect(networkError(new GatewayError(404))).toBeUndefined();
  });
});
