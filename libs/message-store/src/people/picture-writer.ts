import { defineStatement, type Fence, type RegionalDatabase } from '@dormouse/database';
import { channelTransaction } from '../events/channel-transaction.js';
import { storableNamed } from '../storable-records.js';

/** Where the network keeps the picture of a contact or a group. */
export interface FoundPictures {
  /** Chat id: of a person or of a group. */
  id: string;
  /** Addresses of the small and of the whole picture, '' for none; absent: not known, what is stored stays. */
  picture?: string;
  pictureFull?: string;
}

const PERSON = `CASE WHEN c.id LIKE '%@lid' THEN c.id ELSE c.id || '@s.whatsapp.net' END`;

const WANTED = defineStatement({
  name: 'wanted-pictures',
  text: `
SELECT wanted.id FROM (
  SELECT ${PERSON} AS id FROM contacts c WHERE c.channel_id = $1
    AND (c.pictures_asked_at < $2 OR c.pictures_asked_at IS NULL AND coalesce(c.picture, '') = '')
  UNION ALL
  SELECT g.id FROM groups g WHERE g.channel_id = $1 AND g.member
    AND (g.pictures_asked_at < $2 OR g.pictures_asked_at IS NULL)
) wanted LEFT JOIN chats ON chats.channel_id = $1 AND chats.id = wanted.id
ORDER BY coalesce(chats.timestamp, 0) DESC, wanted.id LIMIT $3`,
  parameters: ['text', 'timestamptz', 'int8'],
  row: { id: 'text' },
});

const QUERIED = `
  picture = coalesce($3, picture), picture_full = coalesce($4, picture_full), pictures_asked_at = now()
WHERE channel_id = $1 AND id =`;

const CONTACT_PICTURES = defineStatement({
  name: 'contact-pictures',
  text: `UPDATE contacts SET ${QUERIED} regexp_replace($2, '@s\\.whatsapp\\.net$', '')`,
  parameters: ['text', 'text', 'text?', 'text?'],
});

const GROUP_PICTURES = defineStatement({
  name: 'group-pictures',
  text: `UPDATE groups SET ${QUERIED} $2`,
  parameters: ['text', 'text', 'text?', 'text?'],
});

/**
 * What a channel knows of the pictures of its contacts and groups, and when it queried them. It makes no events: that
 * somebody changed a picture comes from the network, and `ChatWriter` makes the event.
 */
export class PictureWriter {
  private readonly database: Pick<RegionalDatabase, 'pool'>;

  constructor({ database }: { database: Pick<RegionalDatabase, 'pool'> }) {
    this.database = database;
  }

  /**
   * Contacts and groups whose pictures are not known, or were queried longer ago: an address works for some days
   * only. Those of the last active chats come first.
   * @param queriedBeforeMs epoch milliseconds
   * @returns chat ids
   */
  async wanted(
    channelId: string,
    { queriedBeforeMs, limit }: { queriedBeforeMs: number; limit: number },
  ): Promise<string[]> {
    const rows = await WANTED.all(this.database.pool, channelId, new Date(queriedBeforeMs), limit);
    return rows.map(({ id }) => id);
  }

  /** The network was queried, now. Contacts and groups that are not there any more stay so. */
  async recordQueried(fence: Fence, channelId: string, found: FoundPictures): Promise<void> {
    const { id, picture = null, pictureFull = null } = storableNamed(found);
    await channelTransaction(this.database, fence, channelId, async ({ connection }) => {
      await CONTACT_PICTURES.count(connection, channelId, id, picture, pictureFull);
      await GROUP_PICTURES.count(connection, channelId, id, picture, pictureFull);
    });
  }
}
