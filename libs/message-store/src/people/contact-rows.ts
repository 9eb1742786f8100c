import type { RowOfColumns } from '@dormouse/database';
import type { ContactShape } from '@dormouse/gateway-contract';

/** The columns of a {@link ContactRow}. */
export const CONTACT_COLUMNS = 'id, name, push_name, business, about, picture, picture_full';

export const CONTACT_ROW = {
  id: 'text',
  name: 'text?',
  push_name: 'text?',
  business: 'bool',
  about: 'text?',
  picture: 'text?',
  picture_full: 'text?',
} as const;

/** A row of `contacts` as the driver gives it. */
export type ContactRow = RowOfColumns<typeof CONTACT_ROW>;

/** A stored contact as customers see it; what is not known is left out. A name in the address book makes it a saved one. */
export function toContact(row: ContactRow): ContactShape {
  const { id, name, push_name: pushName, business, about, picture, picture_full: pictureFull } = row;
  return {
    id,
    name: name ?? pushName ?? '',
    ...(pushName && { pushname: pushName }),
    ...(business && { is_business: true }),
    ...(picture && { profile_pic: picture }),
    ...(pictureFull && { profile_pic_full: pictureFull }),
    ...(about && { status: about }),
    saved: name !== null,
  };
}
