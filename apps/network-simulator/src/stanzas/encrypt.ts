import type { Account } from '../network/account.js';
import type { Device } from '../network/account.js';
import type { Network } from '../network/network.js';
import { takePreKey } from '../network/pre-key-supply.js';
import { Refusal } from '../network/refusal.js';
import { parseJid } from '../wire/jid.js';
import { signatureHolds, withType } from '../wire/keys.js';
import { bigEndian, bytesOf, child, children, node, numberOf, type Node } from '../wire/node.js';
import type { QueryContext, IqHandler } from './query-handler.js';

const KEY_TYPE = Buffer.from([5]);

/** Key bundles: uploading one's own, counting them, fetching those of others. */
export const encrypt: IqHandler = (context, iq) => {
  const request = child(iq);
  switch (request?.tag) {
    case 'count':
      return [node('count', { value: String(context.device.preKeys.count) })];
    case 'digest':
      return [node('digest')];
    case 'key':
      return [node('list', {}, bundles(context, children(request, 'user')))];
    case 'rotate':
      rotate(context, child(request, 'skey'));
      return undefined;
    default:
      upload(context, iq);
      return undefined;
  }
};

function upload(context: QueryContext, iq: Node): void {
  const { device, network } = context;
  const identity = bytesOf(child(iq, 'identity'));
  if (identity && !identity.equals(device.state.identity)) throw new Refusal(406, 'not-acceptable');
  rotate(context, child(iq, 'skey'));
  const keys = children(child(iq, 'list'), 'key').map((key) => ({
    id: numberOf(child(key, 'id')) ?? 0,
    value: bytesOf(child(key, 'value')) ?? Buffer.alloc(0),
  }));
  if (keys.some(({ value }) => value.length !== 32)) throw new Refusal(406, 'not-acceptable');
  device.preKeys.add(keys);
  network.accounts.savePreKeys(device);
}

/** A new signed pre-key; one whose signature does not hold is refused. */
function rotate({ device }: QueryContext, skey: Node | undefined): void {
  if (!skey) return;
  const id = numberOf(child(skey, 'id')) ?? 0;
  const value = bytesOf(child(skey, 'value')) ?? Buffer.alloc(0);
  const signature = bytesOf(child(skey, 'signature')) ?? Buffer.alloc(0);
  if (!signatureHolds(device.state.identity, withType(value), signature)) throw new Refusal(406, 'not-acceptable');
  device.state.signedPreKey = { id, value, signature };
  device.account.changed();
}

/** Unknown addresses are left out: an error in one user's place would make the client give up the whole send. */
function bundles({ network }: QueryContext, users: Node[]): Node[] {
  return users.flatMap((user) => {
    const jid = user.attrs['jid'] ?? '';
    const account = network.accounts.find(jid);
    if (!account || network.unknown(account)) return [];
    const { device: id } = parseJid(jid);
    const content = id === 0 ? phoneBundle(account) : deviceBundle(network, account.devices.get(id));
    return content ? [node('user', { jid, t: network.timestamp() }, content)] : [];
  });
}

function phoneBundle(account: Account): Node[] {
  const { registrationId, identity, signedPreKey } = account.keys();
  return bundle(registrationId, identity.public, {
    id: signedPreKey.id,
    value: signedPreKey.pair.public,
    signature: signedPreKey.signature,
  });
}

function deviceBundle(network: Network, device: Device | undefined): Node[] | undefined {
  if (!device) return undefined;
  const oneTime = takePreKey(network, device);
  const { registrationId, identity, signedPreKey } = device.state;
  const nodes = bundle(registrationId, identity, signedPreKey);
  if (oneTime) {
    nodes.push(node('key', {}, [node('id', {}, bigEndian(oneTime.id, 3)), node('value', {}, oneTime.value)]));
  }
  return nodes;
}

function bundle(
  registrationId: number,
  identity: Buffer,
  signed: { id: number; value: Buffer; signature: Buffer },
): Node[] {
  return [
    node('registration', {}, bigEndian(registrationId, 4)),
    node('type', {}, KEY_TYPE),
    node('identity', {}, identity),
    node('skey', {}, [
      node('id', {}, bigEndian(signed.id, 3)),
      node('value', {}, signed.value),
      node('signature', {}, signed.signature),
    ]),
  ];
}
