import { proto } from '@whiskeysockets/baileys/WAProto/index.js';
import { setTimeout as wait } from 'node:timers/promises';
import { appendPatch, collectionOf, type Collection } from '../shared-state/collection.js';
import { announceSharedState } from '../network/shared-state-notices.js';
import { openPatch, type OpenedChange } from '../shared-state/read.js';
import { snapshotReference } from '../shared-state/snapshot.js';
import { bytesOf, child, children, node, type Node } from '../wire/node.js';
import type { QueryContext, IqHandler } from './query-handler.js';

/**
 * A client applies the first state only to chats that it gets from the history in the same moment; on a loopback our answer
 * would be faster than it unpacks that. The real network is never this fast. A client that takes longer still has the
 * state of its chats: the history has it, too.
 */
const FIRST_SYNC_DELAY_MS = 100;

/** Shared state between the devices of an account: pull what is newer, push changes. */
export const appState: IqHandler = async (context, iq) => {
  const request = children(child(iq, 'sync'), 'collection');
  if (request.length > 1 && request.some(({ attrs }) => attrs['version'] === '0')) await wait(FIRST_SYNC_DELAY_MS);
  return [
    node(
      'sync',
      {},
      request.map((collection) => answer(context, collection)),
    ),
  ];
};

function answer(context: QueryContext, request: Node): Node {
  const name = request.attrs['name'] ?? '';
  const version = Number(request.attrs['version'] ?? 0);
  const collection = collectionOf(context.device.account.appState(), name);
  const pushed = bytesOf(child(request, 'patch'));
  if (pushed) return push(context, name, version, collection, proto.SyncdPatch.decode(pushed));
  const { snapshotAfterPatches } = context.network.limits;
  const tooMany = snapshotAfterPatches > 0 && collection.version - version > snapshotAfterPatches;
  if (request.attrs['return_snapshot'] === 'true' && tooMany) return snapshot(context, name, collection);
  return page(context, name, collection, version);
}

/** Accepts a change that was made on the present version and whose MACs hold; anything else is refused. */
function push(
  context: QueryContext,
  name: string,
  version: number,
  collection: Collection,
  patch: proto.ISyncdPatch,
): Node {
  const { network, device } = context;
  const { account } = device;
  if (version !== collection.version) {
    const error = node('error', { code: '409', text: 'conflict' });
    const newer = children(page(context, name, collection, version));
    return node('collection', { name, version: String(collection.version), type: 'error' }, [error, ...newer]);
  }
  let changes: OpenedChange[];
  try {
    changes = openPatch(account.appState(), name, collection, patch);
  } catch (error) {
    network.log.warn({ phone: account.phone, name, reason: String(error) }, 'a change of shared state is refused');
    const refusal = node('error', { code: '400', text: 'bad-request' });
    return node('collection', { name, version: String(collection.version), type: 'error' }, [refusal]);
  }
  const now = appendPatch(collection, patch);
  account.changed();
  network.phones.of(account).sharedStateChanged(changes);
  announceSharedState(network, account, name, now, device);
  return node('collection', { name, version: String(now) });
}

function snapshot({ network, device }: QueryContext, name: string, collection: Collection): Node {
  const reference = snapshotReference(device.account.appState(), name, collection, network.media);
  return node('collection', { name, version: String(collection.version) }, [node('snapshot', {}, reference)]);
}

function page({ network }: QueryContext, name: string, collection: Collection, after: number): Node {
  const patches = collection.patches.slice(after, after + network.limits.patchesPerAnswer);
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
