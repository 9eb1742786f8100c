import { createCipheriv, createDecipheriv, hkdfSync, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { SERVER } from '../wire/jid.js';
import { agree, newKeyPair, type KeyPair } from '../wire/keys.js';
import { bytesOf, child, node, textOf, type Node } from '../wire/node.js';
import type { Account } from '../network/account.js';
import type { Connection } from '../network/connection.js';
import type { Device } from '../network/account.js';
import type { Network } from '../network/network.js';
import { link } from './pairing.js';
import { Refusal } from '../network/refusal.js';

/**
 * The names under which a client may be linked by code; with any other it is refused, while a scanned client has whatever
 * name it likes. The real list is longer and unknown.
 */
const DISPLAY = /^(Chrome|Edge|Firefox|Opera|Safari) \((Windows|Mac OS|Linux|Ubuntu)\)$/;
const ROUNDS = 131_072;
const FINISH_TIMEOUT_MS = 20_000;
const stretch = promisify(pbkdf2);

/** A client's first and last request of linking by code; returns the answer's content. */
export function answerCodeLinking(network: Network, connection: Connection, registration: Node): Node[] {
  if (registration.attrs['stage'] === 'companion_hello') return companionHello(network, connection, registration);
  const bundle = bytesOf(child(registration, 'link_code_pairing_wrapped_key_bundle'));
  if (bundle) for (const client of network.codeLinkings.on(connection)) client.finished?.(bundle);
  return [];
}

/**
 * Somebody enters the eight letters on the phone. Throws {@link Refusal} 404 (nobody waits), 400 (wrong code), 408.
 */
export async function enterCode(network: Network, account: Account, code: string): Promise<Device> {
  const client = await network.codeLinkings.clientFor(account.phone);
  if (!client) throw new Refusal(404, 'No client waits for a code of this phone.');
  const companion = await unwrap(code, client.wrapped);
  const ephemeral = newKeyPair();
  const { identity } = account.keys();
  const bundle = new Promise<Buffer>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Refusal(400, 'The client did not accept the code.')), FINISH_TIMEOUT_MS);
    client.finished = (given) => {
      clearTimeout(timer);
      resolve(given);
    };
  });
  client.connection.send(await primaryHello(network, code, ephemeral, identity, client.ref));
  const secret = advSecret(await bundle, agree(companion, ephemeral.private), identity, client.connection);
  network.codeLinkings.remove(account.phone);
  const registered = Buffer.from(client.connection.payload.devicePairingData?.eIdent ?? []);
  return link(network, account, client.connection, registered, secret);
}

function companionHello(network: Network, connection: Connection, registration: Node): Node[] {
  const account = network.accounts.find(registration.attrs['jid'] ?? '');
  const wrapped = bytesOf(child(registration, 'link_code_pairing_wrapped_companion_ephemeral_pub'));
  if (!account || wrapped?.length !== 80) throw new Refusal(400, 'bad-request');
  const display = textOf(child(registration, 'companion_platform_display')) ?? '';
  if (!DISPLAY.test(display)) {
    network.log.info({ display }, 'refused to link by code: the name of the client must be like "Chrome (Windows)"');
    throw new Refusal(400, 'bad-request');
  }
  const ref = randomBytes(16);
  network.codeLinkings.add(account.phone, { connection, ref, wrapped });
  return [node('link_code_companion_reg', { stage: 'companion_hello' }, [node('link_code_pairing_ref', {}, ref)])];
}

async function primaryHello(
  network: Network,
  code: string,
  ephemeral: KeyPair,
  identity: KeyPair,
  ref: Buffer,
): Promise<Node> {
  const content = [
    node('link_code_pairing_wrapped_primary_ephemeral_pub', {}, await wrap(code, ephemeral.public)),
    node('primary_identity_pub', {}, identity.public),
    node('link_code_pairing_ref', {}, ref),
  ];
  const attrs = { type: 'link_code_companion_reg', from: SERVER, id: network.stanzaId(), t: network.timestamp() };
  return node('notification', attrs, [node('link_code_companion_reg', { stage: 'primary_hello' }, content)]);
}

/** The secret both sides now share. Throws when the client's bundle was made with another code. */
function advSecret(bundle: Buffer, shared: Buffer, identity: KeyPair, connection: Connection): Buffer {
  const salt = bundle.subarray(0, 32);
  const key = Buffer.from(hkdfSync('sha256', shared, salt, 'link_code_pairing_key_bundle_encryption_key', 32));
  const decipher = createDecipheriv('aes-256-gcm', key, bundle.subarray(32, 44));
  decipher.setAuthTag(bundle.subarray(bundle.length - 16));
  let plain: Buffer;
  try {
    plain = Buffer.concat([decipher.update(bundle.subarray(44, bundle.length - 16)), decipher.final()]);
  } catch {
    connection.end(node('stream:error', { code: '401' }));
    throw new Refusal(400, 'This is not the code that the client shows.');
  }
  const companionIdentity = plain.subarray(0, 32);
  const random = plain.subarray(64, 96);
  const material = Buffer.concat([shared, agree(companionIdentity, identity.private), random]);
  return Buffer.from(hkdfSync('sha256', material, Buffer.alloc(0), 'adv_secret', 32));
}

async function wrap(code: string, publicKey: Buffer): Promise<Buffer> {
  const salt = randomBytes(32);
  const iv = randomBytes(16);
  const cipher = createCipheriv('aes-256-ctr', await stretch(code, salt, ROUNDS, 32, 'sha256'), iv);
  return Buffer.concat([salt, iv, cipher.update(publicKey), cipher.final()]);
}

async function unwrap(code: string, wrapped: Buffer): Promise<Buffer> {
  const key = await stretch(code, wrapped.subarray(0, 32), ROUNDS, 32, 'sha256');
  const decipher = createDecipheriv('aes-256-ctr', key, wrapped.subarray(32, 48));
  return Buffer.concat([decipher.update(wrapped.subarray(48)), decipher.final()]);
}
