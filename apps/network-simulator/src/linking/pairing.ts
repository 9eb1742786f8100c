import { createHmac } from 'node:crypto';
import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { SERVER } from '../wire/jid.js';
import { signatureHolds, sign, withoutType, withType } from '../wire/keys.js';
import { bytesOf, child, node, type Node } from '../wire/node.js';
import { MAX_COMPANIONS, type Account } from '../network/account.js';
import type { Connection } from '../network/connection.js';
import type { Device } from '../network/account.js';
import { announceDevices } from '../network/device-lists.js';
import type { Network } from '../network/network.js';
import { parseCode } from '../network/pairing-codes.js';
import { Refusal } from '../network/refusal.js';

const ACCOUNT_SIGNATURE_PREFIX = Buffer.from([6, 0]);
const DEVICE_SIGNATURE_PREFIX = Buffer.from([6, 1]);
const ANSWER_TIMEOUT_MS = 20_000;

/** The linking that waits for the client's signed answer, per connection. */
const pending = new WeakMap<Connection, (answer: Node) => void>();

/** An unlinked client connected: give it codes to show. */
export function offerCodes(network: Network, connection: Connection): void {
  const refs = network.pairingCodes.issue(connection);
  connection.sendQuery({ type: 'set', xmlns: 'md' }, [
    node(
      'pair-device',
      {},
      refs.map((ref) => node('ref', {}, Buffer.from(ref))),
    ),
  ]);
}

/**
 * The phone of `account` scans a code. Resolves with the linked device when the client has signed its part.
 * Throws {@link Refusal} 404 (no such code), 410 (expired), 409 (four devices already), 400 (not a code, forged answer).
 */
export async function scanCode(network: Network, account: Account, text: string): Promise<Device> {
  const code = parseCode(text);
  const connection = network.pairingCodes.find(code.ref);
  if (connection === undefined) throw new Refusal(404, 'No client shows this code.');
  if (connection === 'expired') throw new Refusal(410, 'This code has expired.');
  if (!connection.clientStatic.equals(code.noise)) throw new Refusal(400, 'The code names another client.');
  return link(network, account, connection, code.identity, code.advSecret);
}

/** Links the client on this connection to an account, given the secret that the code carried. */
export async function link(
  network: Network,
  account: Account,
  connection: Connection,
  identity: Buffer,
  advSecret: Buffer,
): Promise<Device> {
  const registration = connection.payload.devicePairingData;
  if (!registration?.eIdent || !identity.equals(registration.eIdent)) {
    throw new Refusal(400, 'The code does not belong to the client that shows it.');
  }
  if (account.devices.size >= MAX_COMPANIONS) throw new Refusal(409, 'This phone has four linked devices already.');
  const signedPreKey = {
    id: Buffer.from(registration.eSkeyId ?? []).readUIntBE(0, 3),
    value: Buffer.from(registration.eSkeyVal ?? []),
    signature: Buffer.from(registration.eSkeySig ?? []),
  };
  if (!signatureHolds(identity, withType(signedPreKey.value), signedPreKey.signature)) {
    throw new Refusal(400, 'The client did not sign its pre-key.');
  }
  network.pairingCodes.forget(connection);
  const id = account.state.nextDeviceId++;
  const keyIndex = account.state.nextKeyIndex++;
  const details = await confirm(network, account, connection, { id, keyIndex, identity, advSecret });
  const device = account.addDevice({
    id,
    keyIndex,
    linkedAtMs: network.now(),
    noise: connection.clientStatic,
    identity,
    registrationId: Buffer.from(registration.eRegid ?? [0, 0, 0, 0]).readUInt32BE(0),
    signedPreKey,
    ...describe(registration.deviceProps),
    preKeysTaken: 0,
    bootstrapped: false,
    queue: [],
  });
  account.changed();
  network.log.info({ phone: account.phone, device: id, keyIndex: details }, 'device linked');
  announceDevices(network, account, 'add', device);
  connection.end(node('stream:error', { code: '515' }));
  return device;
}

/** Sends pair-success and waits for the client's signature over the device certificate. */
async function confirm(
  network: Network,
  account: Account,
  connection: Connection,
  linking: { id: number; keyIndex: number; identity: Buffer; advSecret: Buffer },
): Promise<number> {
  const { identity: accountKeys } = account.keys();
  const details = proto.ADVDeviceIdentity.encode({
    rawId: account.state.advRawId,
    timestamp: Math.floor(network.now() / 1000),
    keyIndex: linking.keyIndex,
    accountType: 0,
    deviceType: 0,
  }).finish();
  const signed = proto.ADVSignedDeviceIdentity.encode({
    details,
    accountSignatureKey: accountKeys.public,
    accountSignature: sign(
      accountKeys.private,
      Buffer.concat([ACCOUNT_SIGNATURE_PREFIX, details, withoutType(linking.identity)]),
    ),
  }).finish();
  const certificate = proto.ADVSignedDeviceIdentityHMAC.encode({
    details: signed,
    hmac: createHmac('sha256', linking.advSecret).update(signed).digest(),
    accountType: 0,
  }).finish();
  const answer = await new Promise<Node>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Refusal(408, 'The client did not answer the linking.')),
      ANSWER_TIMEOUT_MS,
    );
    pending.set(connection, (reply) => {
      clearTimeout(timer);
      resolve(reply);
    });
    connection.sendQuery({ type: 'set' }, [
      node('pair-success', {}, [
        node('device-identity', {}, certificate),
        node('device', {
          jid: account.jidLike('s.whatsapp.net', linking.id),
          lid: account.jidLike('lid', linking.id),
        }),
        node('platform', { name: 'android' }),
      ]),
    ]);
  }).finally(() => pending.delete(connection));
  const reply = bytesOf(child(child(answer, 'pair-device-sign'), 'device-identity'));
  const deviceSignature = reply && proto.ADVSignedDeviceIdentity.decode(reply).deviceSignature;
  const message = Buffer.concat([DEVICE_SIGNATURE_PREFIX, details, linking.identity, accountKeys.public]);
  if (!deviceSignature || !signatureHolds(linking.identity, message, deviceSignature)) {
    connection.end(node('stream:error', { code: '401' }));
    throw new Refusal(400, "The client's signature over its device certificate does not hold.");
  }
  return linking.keyIndex;
}

/** An answer of a client that is not linked yet: the linking that waits for it goes on. */
export function pairingAnswer(connection: Connection, stanza: Node): void {
  if (child(stanza, 'pair-device-sign')) pending.get(connection)?.(stanza);
}

function describe(deviceProps: Uint8Array | null | undefined): { platform: string; fullHistory: boolean } {
  const { os, requireFullSync } = proto.DeviceProps.decode(deviceProps ?? new Uint8Array());
  return { platform: os || 'unknown', fullHistory: requireFullSync === true };
}

/** Unlinks a device: its socket, if any, is notified and closed, and so are all that know the account's devices. */
export function unlink(network: Network, device: Device): void {
  const { account, connection } = device;
  account.devices.delete(device.id);
  account.changed();
  void network.accounts.forgetPreKeys(device);
  network.phones.of(account).forgetDevice(device.id);
  announceDevices(network, account, 'remove', device);
  connection?.end(node('stream:error', { code: '401' }, [node('conflict', { type: 'device_removed' })]));
  network.log.info({ phone: account.phone, device: device.id, from: SERVER }, 'device unlinked');
}
