import { GatewayError } from '@dormouse/gateway-contract';
import type { Spool } from '@dormouse/media-files';
import { storedBytes, type MediaReader } from '@dormouse/media-store/read';
import type { Images } from './images.js';

/**
 * Makes a profile picture, a square JPEG, of a stored file.
 * @throws {GatewayError} 400 naming `icon` for an unknown id or a file that is not an image, 502 when the object storage
 * fails
 */
export function iconsFrom(media: Pick<MediaReader, 'open'>, spool: Pick<Spool, 'keep'>, images: Images) {
  return async (channelId: string, mediaId: string): Promise<Buffer> => {
    const opened = await media.open(channelId, mediaId);
    if (!opened) throw new GatewayError(400, { details: 'icon: no such media id' });
    const file = await spool.keep(storedBytes(opened.object.stream));
    try {
      return await images.prepareIcon(file, { owner: channelId });
    } finally {
      await file.dispose();
    }
  };
}
