import { bareJid, isGroup, personContactId, type KnownNumbers } from '../convert/jid.js';
import type { ContactChange } from '../socket/network-events.js';
import { storeAndNotify, type InboundContext } from './inbound-context.js';

/**
 * Pictures that people changed, their own or a group's. The network notifies that there is another one; where it is must be queried,
 * which happens beside what is received meanwhile. A query that fails is not repeated: GET /contacts/{ContactID}/profile queries
 * again.
 */
export function handlePictures(
  inbound: InboundContext,
  contacts: readonly ContactChange[],
  numbers: KnownNumbers,
): void {
  const { session, queue, chats, pictures } = inbound;
  for (const { id: jid, imgUrl } of contacts) {
    if (!jid || (imgUrl !== 'changed' && imgUrl !== 'removed')) continue;
    const id = personContactId([jid], numbers);
    if (id === undefined && !isGroup(jid)) continue;
    const none = { picture: '', pictureFull: '' };
    const queried = imgUrl === 'removed' ? Promise.resolve(none) : session.network.people.pictures(jid);
    queried.then(
      (found) =>
        queue.enqueue(async () => {
          const { fence, channelId } = session;
          if (id !== undefined)
            await storeAndNotify(inbound, () => chats.recordContacts(fence, channelId, [{ id, ...found }]));
          else await queue.store(() => pictures.recordQueried(fence, channelId, { id: bareJid(jid), ...found }));
        }),
      () => undefined,
    );
  }
}
