/** Credentials and keys of Baileys as bytes, and authentication states that hold them. */
import {
  BufferJSON,
  initAuthCreds,
  proto,
  type AuthenticationCreds,
  type SignalDataTypeMap,
} from '@whiskeysockets/baileys';
import type { AuthRows } from '../auth-state/auth-rows.js';
import { AuthStates, type AuthState } from '../auth-state/auth-state.js';
import type { KeyFormat } from '../auth-state/key-format.js';
import type { MasterKeys } from '../encryption/data-keys.js';

/** The authentication state of one channel, as the library's sockets use it. */
export type NetworkAuthState = AuthState<AuthenticationCreds, SignalDataTypeMap>;
/** Those of all channels. */
export type NetworkAuthStates = AuthStates<AuthenticationCreds, SignalDataTypeMap>;

/** The states that are stored in these rows. */
export function networkAuthStates(rows: AuthRows, masterKeys: MasterKeys): NetworkAuthStates {
  return new AuthStates(rows, masterKeys, LIBRARY_FORMAT);
}

/**
 * Baileys' own JSON, which keeps bytes as base64. Signal sessions, which every message changes, hold none: libsignal
 * writes them as text, and looking at each of their parts takes longer than all the rest.
 */
const LIBRARY_FORMAT: KeyFormat<AuthenticationCreds, SignalDataTypeMap> = {
  newCredentials: initAuthCreds,
  serializeCredentials: (creds) => Buffer.from(JSON.stringify(creds, BufferJSON.replacer)),
  parseCredentials: (plain) => parse(plain) as AuthenticationCreds,
  serializeKey: (type, value) =>
    Buffer.from(JSON.stringify(value, type === 'session' ? undefined : BufferJSON.replacer)),
  parseKey: (type, plain) => restore(type, parse(plain)) as SignalDataTypeMap[typeof type],
  parseOther: parse,
};

function parse(plain: Buffer): unknown {
  const text = plain.toString();
  return JSON.parse(text, text.includes(BYTES) ? BufferJSON.reviver : undefined) as unknown;
}

/** How the library's JSON marks bytes: `{"type":"Buffer","data":"<base64>"}`. */
const BYTES = '"Buffer"';

/** App-state keys are protobuf messages and must come back as such. */
function restore(type: keyof SignalDataTypeMap, value: unknown): unknown {
  if (type !== 'app-state-sync-key' || typeof value !== 'object' || value === null) return value;
  return proto.Message.AppStateSyncKeyData.fromObject(value);
}
