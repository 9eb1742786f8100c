import { randomInt } from 'node:crypto';
import * as libsignal from 'libsignal';
import type { Account } from '../network/account.js';
import type { Network } from '../network/network.js';
import { takePreKey } from '../network/pre-key-supply.js';
import { withType } from '../wire/keys.js';
import { node, type Node } from '../wire/node.js';
import { removeSpentChains, type StoredRecord } from './spent-chains.js';

/** A device somewhere: a person and a device number (0 is the phone). */
export interface DeviceAddress {
  account: Account;
  device: number;
}

/** Public keys to start a session with. */
export interface KeyBundle {
  registrationId: number;
  identity: Buffer;
  signedPreKey: { id: number; value: Buffer; signature: Buffer };
  preKey?: { id: number; value: Buffer } | undefined;
}

/**
 * A phone's Signal sessions. They are stored as serialized records and read anew for each use: a message that does not
 * decrypt has moved the record's ratchet by then, and that must not be stored.
 */
export class SignalSessions {
  private readonly records: Map<string, unknown>;

  constructor(
    private readonly network: Network,
    private readonly own: Account,
    stored: Record<string, unknown> = {},
  ) {
    this.records = new Map(Object.entries(stored));
  }

  snapshot(): Record<string, unknown> {
    return Object.fromEntries(this.records);
  }

  /** Encrypts for one device, beginning a session with the keys the server has for it when there is none yet. */
  async encrypt(to: DeviceAddress, plain: Uint8Array): Promise<Node> {
    if (!this.isOpen(to)) await this.begin(to, bundleOf(this.network, to));
    const { type, body } = await this.cipher(to).encrypt(Buffer.from(plain));
    return node('enc', { v: '2', type: type === 3 ? 'pkmsg' : 'msg' }, Buffer.from(body, 'binary'));
  }

  /** Decrypts what a device sent. Throws libsignal's error when it cannot. */
  async decrypt(from: DeviceAddress, type: string, sealed: Buffer): Promise<Buffer> {
    if (type === 'pkmsg') return this.cipher(from).decryptPreKeyWhisperMessage(sealed);
    let failure = new Error('No session record');
    for (const session of this.latestFirst(from)) {
      try {
        return await this.cipher(from, session).decryptWhisperMessage(sealed);
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
      }
    }
    throw failure;
  }

  /** Begins a session anew; an earlier one is closed and still reads what is under way. */
  async begin(with_: DeviceAddress, bundle: KeyBundle): Promise<void> {
    await new libsignal.SessionBuilder(this.storage(), this.address(with_)).initOutgoing({
      registrationId: bundle.registrationId,
      identityKey: withType(bundle.identity),
      signedPreKey: {
        keyId: bundle.signedPreKey.id,
        publicKey: withType(bundle.signedPreKey.value),
        signature: bundle.signedPreKey.signature,
      },
      // Absent for phones, which publish no one-time keys; libsignal's typing insists on one, its code does not.
      preKey: (bundle.preKey && {
        keyId: bundle.preKey.id,
        publicKey: withType(bundle.preKey.value),
      }) as { keyId: number; publicKey: Uint8Array },
    });
  }

  isOpen(to: DeviceAddress): boolean {
    const stored = this.records.get(this.address(to).toString());
    return (
      stored !== undefined &&
      Object.values((stored as StoredRecord)._sessions).some(({ indexInfo }) => indexInfo.closed === -1)
    );
  }

  forget(of: DeviceAddress): void {
    this.records.delete(this.address(of).toString());
    this.own.changed();
  }

  /** The sessions with a device, by their keys in the record: the one used last is tried first. */
  private latestFirst(with_: DeviceAddress): string[] {
    const stored = this.records.get(this.address(with_).toString()) as StoredRecord | undefined;
    return Object.entries(stored?._sessions ?? {})
      .sort(([, a], [, b]) => b.indexInfo.used - a.indexInfo.used)
      .map(([key]) => key);
  }

  /**
   * @param session sees this session of the record alone. Given several, the library tries them one after another, and
   *   stores those with the others that it has tried in vain, their ratchets moved: nothing written in them is read again.
   */
  private cipher(with_: DeviceAddress, session?: string): libsignal.SessionCipher {
    return new libsignal.SessionCipher(this.storage(session), this.address(with_));
  }

  /** Names our own account, too: libsignal queues work per address across everybody in the process. */
  private address({ account, device }: DeviceAddress): libsignal.ProtocolAddress {
    return new libsignal.ProtocolAddress(`${this.own.lid}_${account.lid}`, device);
  }

  private storage(session?: string): libsignal.SignalStorage {
    const { identity, signedPreKey, registrationId } = this.own.keys();
    return {
      loadSession: (id) => {
        const stored = this.records.get(id);
        return Promise.resolve(
          stored === undefined ? undefined : deserialize(session ? only(stored, session) : stored),
        );
      },
      storeSession: (id, record) => {
        const stored = serialize(record);
        removeSpentChains(stored);
        this.records.set(id, session ? merged(this.records.get(id), stored) : stored);
        this.own.changed();
        return Promise.resolve();
      },
      isTrustedIdentity: () => true,
      loadPreKey: () => Promise.resolve(undefined),
      removePreKey: () => undefined,
      loadSignedPreKey: () => ({ privKey: signedPreKey.pair.private, pubKey: withType(signedPreKey.pair.public) }),
      getOurRegistrationId: () => registrationId,
      getOurIdentity: () => ({ privKey: identity.private, pubKey: withType(identity.public) }),
    };
  }
}

/** A record with one of its sessions. */
function only(stored: unknown, session: string): unknown {
  const record = stored as StoredRecord;
  return { ...record, _sessions: { [session]: record._sessions[session] } };
}

/** A record with the sessions of another in place of its own of the same key. */
function merged(stored: unknown, changed: StoredRecord): unknown {
  const record = stored as StoredRecord;
  return { ...record, _sessions: { ...record._sessions, ...changed._sessions } };
}

/** A record's serialized form is a plain object, other than in its typing. */
function serialize(record: libsignal.SessionRecord): StoredRecord {
  const stored: unknown = record.serialize();
  return stored as StoredRecord;
}

function deserialize(stored: unknown): libsignal.SessionRecord {
  return libsignal.SessionRecord.deserialize(stored as Uint8Array);
}

/** The keys the server hands out for a device; throws when the device is not linked. */
export function bundleOf(network: Network, { account, device }: DeviceAddress): KeyBundle {
  if (device === 0) {
    const { registrationId, identity, signedPreKey } = account.keys();
    return {
      registrationId,
      identity: identity.public,
      signedPreKey: { id: signedPreKey.id, value: signedPreKey.pair.public, signature: signedPreKey.signature },
    };
  }
  const linked = account.devices.get(device);
  if (!linked) throw new Error(`Device ${device} is not linked.`);
  const { registrationId, identity, signedPreKey } = linked.state;
  return { registrationId, identity, signedPreKey, preKey: takePreKey(network, linked) };
}

/** Hides a message's length: 1 to 16 bytes, each holding their number. */
export function pad(plain: Uint8Array): Buffer {
  const length = randomInt(1, 17);
  return Buffer.concat([plain, Buffer.alloc(length, length)]);
}

/** Undoes {@link pad}. */
export function unpad(padded: Buffer): Buffer {
  const length = padded.at(-1) ?? 0;
  if (length === 0 || length > padded.length) throw new Error('The padding of the message is broken.');
  return padded.subarray(0, padded.length - length);
}
