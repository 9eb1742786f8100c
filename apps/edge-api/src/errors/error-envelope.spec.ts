import { GatewayError } from '@dormouse/gateway-contract';
import { NotFoundException, PayloadTooLargeException, UnsupportedMediaTypeException } from '@nestjs/common';
import { toGatewayError } from './error-envelope.filter.js';

describe('toGatewayError', () => {
  it('leaves errors of the table as they are', () => {
    const error = new GatewayError(403, { details: 'x' });
    expect(toGatewayError(error)).toBe(error);
  });

  it('gives every other thrown thing a status of the table, and shows none of its text', () => {
    const secret = 'secret text';
    for (const [thrown, status] of [
      [new PayloadTooLargeException(secret), 413],
      [new UnsupportedMediaTypeException(secret), 400],
      [new NotFoundException(secret), 400],
      [Object.assign(new Error(secret), { statusCode: 414 }), 400],
      [Object.assign(new Error(secret), { statusCode: 500 }), 502],
      [new TypeError(secret), 502],
      [undefined, 502],
      ['text', 502],
    ] as const) {
      const error = toGatewayError(thrown);
      expect(error.status).toBe(status);
      expect(`${error.message} ${error.details ?? ''}`).not.toContain(secret);
    }
  });
});
