import { createHmac } from 'node:crypto';
import { readSessionToken, sessionCookieName } from './session-cookie.js';

const signIn = { publicUrl: 'https://dormouse.example.com', secret: 'the secret of an installation' };
const signed = (token: string, secret = signIn.secret): string =>
  encodeURIComponent(`${token}.${createHmac('sha256', secret).update(token).digest('base64')}`);

describe('the cookie of a session', () => {
  it('is for https alone where people use https', () => {
    expect(sessionCookieName('https://dormouse.example.com')).toBe('__Secure-dormouse.session_token');
    expect(sessionCookieName('http://127.0.0.1:3100')).toBe('dormouse.session_token');
  });

  it('is read among others', () => {
    expect(readSessionToken(`a=b; __Secure-dormouse.session_token=${signed('token')}; c=d`, signIn)).toBe('token');
  });

  it.each([
    ['nothing', undefined],
    ['no signature', '__Secure-dormouse.session_token=token'],
    ['the signature of another installation', `__Secure-dormouse.session_token=${signed('token', 'another secret')}`],
    ['the signature of another token', `__Secure-dormouse.session_token=other${signed('token').slice(5)}`],
    ['a name that any page of the site can set', `dormouse.session_token=${signed('token')}`],
    ['text that is not encoded', '__Secure-dormouse.session_token=%E0%A4%A'],
  ])('is none with %s', (_title, cookie) => {
    expect(readSessionToken(cookie, signIn)).toBeUndefined();
  });
});
