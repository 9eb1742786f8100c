import type { Contact } from '@whiskeysockets/baileys';
import { personContactId, type KnownNumbers } from '../convert/jid.js';
import { pictureAddresses } from '../sessions/person-facts.js';
import { storeAndTell, type Hearing } from './hearing.js';

/**
 * Pictures that people changed. The network says only that there is another one: it is asked where, while other things
 * are heard. A question that fails is not repeated; GET /contacts/{ContactID}/profile asks anew.
 */
export function hearPictures(hearing: Hearing, contacts: readonly Partial<Contact>[], numbers: KnownNumbers): void {
  const { session, ear, chats } = hearing;
  for (const { id: jid, imgUrl } of contacts) {
    const id = personContactId([jid], numbers);
    if (!jid || id === undefined || (imgUrl !== 'changed' && imgUrl !== 'removed')) continue;
    const none = { picture: '', pictureFull: '' };
    const found = imgUrl === 'removed' ? Promise.resolve(none) : pictureAddresses(session.socket, jid);
    found.then(
      (pictures) =>
        ear.hear(() =>
          storeAndTell(hearing, () => chats.recordContacts(session.fence, session.channelId, [{ id, ...pictures }])),
        ),
      () => undefined,
    );
  }
}
