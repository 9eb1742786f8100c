import { MEDIA_ID_PATTERN } from './media.js';
import { messageIdOfMedia, toMediaId } from './media-ids.js';

describe('ids of files of messages', () => {
  it.each(['PrrWxAg.nYs-wMsBz5qCyXo', '3EB0.Kc_-kgYBnQ4WpwPH-AjGfLq0', 'AAAA-gICA'])(
    'lead back to message %s',
    (id) => {
      const mediaId = toMediaId('jpeg', id);
      expect(mediaId).toMatch(MEDIA_ID_PATTERN);
      expect(messageIdOfMedia(mediaId)).toBe(id);
    },
  );

  it.each(['', 'jpeg', 'jpeg-', 'jpeg-0', 'jpeg-xyz', 'jpeg-00', '../-00112233-00112233', 'media_init'])(
    'are not what %j looks like',
    (mediaId) => expect(messageIdOfMedia(mediaId)).toBeUndefined(),
  );
});
