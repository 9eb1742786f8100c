import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { setTimeout as wait } from 'node:timers/promises';
import { appendPatch, collectionOf, type Collection } from '../network/app-state.js';
import { bytesOf, child, children, node, type Node } from '../wire/node.js';
import type { Asker, IqHandler } from './answer.js';

/**
 * A client applies the first state only to chats that it has heard of from the history; on a loopback our answer would be
 * faster than it unpacks that. The real network is never this fast.
 */
const FIRST_SYNC_DELAY_MS = 60;
/** Patches in one answer; more are announced and asked for again. */
const PAGE = 100;

/** Shared state between the devices of an account: pull what is newer, push changes. */
export const appState: IqHandler = async (asker, iq) => {
  const asked = children(child(iq, 'sync'), 'collection');
  if (asked.length > 1 && asked.every(({ attrs }) => attrs['version'] === '0')) await wait(FIRST_SYNC_DELAY_MS);
  return [
    node(
      'sync',
      {},
      asked.map((collection) => answer(asker, collection)),
    ),
  ];
};

function answer(asker: Asker, asked: Node): Node {
  const name = asked.attrs['name'] ?? '';
  const version = Number(asked.attrs['version'] ?? 0);
  const collection = collectionOf(asker.device.account.appState(), name);
  const pushed = bytesOf(child(asked, 'patch'));
  if (!pushed) return page(name, collection, version);
  if (version !== collection.version) {
    return node('collection', { name, version: String(collection.version), type: 'error' }, [
      node('error', { code: '409', text: 'conflict' }),
      ...children(page(name, collection, version)),
    ]);
  }
  const now = appendPatch(collection, proto.SyncdPatch.decode(pushed));
  asker.device.account.changed();
  announceState(asker, name, now);
  return node('collection', { name, version: String(now) });
}

function page(name: string, collection: Collection, after: number): Node {
  const patches = collection.patches.slice(after, after + PAGE);
  const more = after + patches.length < collection.version;
  return node(
    'collection',
    { name, version: String(after + patches.length), has_more_patches: more ? 'true' : undefined },
    patches.length > 0
      ? [
          node(
            'patches',
            {},
            patches.map((patch) => node('patch', {}, patch)),
          ),
        ]
      : undefined,
  );
}

/** The account's other devices learn that a collection moved on. */
function announceState({ network, device }: Asker, name: string, version: number): void {
  for (const other of device.account.devices.values()) {
    if (other === device) continue;
    other.deliver(
      node(
        'notification',
        { type: 'server_sync', from: '@s.whatsapp.net', id: network.stanzaId(), t: network.timestamp() },
        [node('collection', { name, version: String(version) })],
      ),
    );
  }
}
