/** For specs: a session's network on what a spec gives of the library's socket. */
import { makeEventBuffer, type WASocket } from '@whiskeysockets/baileys';
import { LiveSession } from './live-session.js';
import { networkSessionOf, type NetworkSession } from './network-session.js';
import type { OpenSession } from './open-session.js';

const silent = {
  level: 'silent',
  child: () => silent,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** What a spec has of the library's socket: only what is used of it need be there. */
export function testNetwork(socket: object): NetworkSession {
  return networkSessionOf(socket as WASocket);
}

/** The library's own buffer of events, which gathers and gives them as that of a real socket. */
export function testEventBuffer(): WASocket['ev'] {
  return makeEventBuffer(silent);
}

/** The library's socket of a real session, for what only a spec does with it. */
export function librarySocket(session: OpenSession): WASocket {
  if (!(session instanceof LiveSession)) throw new Error('it is no session of a socket');
  return session.socket;
}
