import { GatewayError } from '@dormouse/gateway-contract';
import { forwardTarget } from './forward-target.js';

const ORIGIN = 'https://eu.example.com';
const refusal = expect.objectContaining({ status: 400, details: expect.stringMatching(/^path: /) as string }) as Error;

describe('forwardTarget', () => {
  it('keeps path and query as they were sent, on the configured origin', () => {
    for (const path of [
      '/',
      '/chats',
      '/messages//text?a=%20b&token=x',
      '/chats/1%40s.whatsapp.net',
      '/a?next=http://127.0.0.1/x',
      '/a?x=//127.0.0.1\\y',
      '/%2F%2F127.0.0.1/x',
      '/@127.0.0.1/x',
      '/100%/\u00e9',
    ]) {
      expect(forwardTarget(ORIGIN, path)).toEqual({ protocol: 'https:', hostname: 'eu.example.com', port: 443, path });
    }
  });

  it('takes host, port and protocol from the configured origin alone', () => {
    expect(forwardTarget('http://127.0.0.1:8080', '/x')).toMatchObject({ protocol: 'http:', port: 8080 });
    expect(forwardTarget('http://[::1]', '/x')).toMatchObject({ hostname: '::1', port: 80 });
  });

  it.each([
    'http://127.0.0.1:45480/latest/api/token',
    'https://127.0.0.1/',
    'HTTP://eu.example.com/chats',
    'http:/127.0.0.1/x',
    'http:127.0.0.1',
    'ftp://127.0.0.1/x',
    'file:///etc/passwd',
    'javascript:1',
    '//127.0.0.1:45480/latest/meta-data/iam/',
    '///127.0.0.1/x',
    '/\\127.0.0.1:45480/x',
    '\\\\127.0.0.1/x',
    '\\/127.0.0.1/x',
    '//user:pw@127.0.0.1:45480/x',
    'user:pw@127.0.0.1:45480',
    '@127.0.0.1/x',
    '127.0.0.1:80',
    'chats',
    '*',
    '?token=x',
    '',
    ' /chats',
    '/\t/127.0.0.1/x',
    '/\r\nX-Injected: 1',
    '/\n/127.0.0.1',
    '/a#//127.0.0.1/',
    '/\0',
  ])('refuses %j', (target) => {
    expect(() => forwardTarget(ORIGIN, target)).toThrow(GatewayError);
    expect(() => forwardTarget(ORIGIN, target)).toThrow(refusal);
  });
});
