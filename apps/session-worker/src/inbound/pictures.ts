import { bareJid, isGroup, personContactId, type KnownNumbers } from '../convert/jid.js';
import type { ContactChange } from '../socket/network-events.js';
import { storeAndTell, type Hearing } from './hearing.js';

/**
 * Pictures that people changed, their own or a group's. The network says only that there is another one: it is asked where, while other things
 * are heard. A question that fails is not repeated; GET /contacts/{ContactID}/profile asks anew.
 */
export function hearPictures(hearing: Hearing, contacts: readonly ContactChange[], numbers: KnownNumbers): void {
  const { session, ear, chats, pictures } = hearing;
  for (const { id: jid, imgUrl } of contacts) {
    if (!jid || (imgUrl !== 'changed' && imgUrl !== 'removed')) continue;
    const id = personContactId([jid], numbers);
    if (id === undefined && !isGroup(jid)) continue;
    const none = { picture: '', pictureFull: '' };
    const asked = imgUrl === 'removed' ? Promise.resolve(none) : session.network.people.pictures(jid);
    asked.then(
      (found) =>
        ear.hear(async () => {
          const { fence, channelId } = session;
          if (id !== undefined)
            await storeAndTell(hearing, () => chats.recordContacts(fence, channelId, [{ id, ...found }]));
          else await ear.store(() => pictures.recordAsked(fence, channelId, { id: bareJid(jid), ...found }));
        }),
      () => undefined,
    );
  }
}
