import type { MediaTools } from './commands/sending/message-tools.js';
import type { Images } from './media/images.js';

const away = (): Promise<never> => Promise.reject(new Error('this spec has no files'));

/** For specs that send no files. */
export function noMedia(): MediaTools['media'] {
  return {
    files: { file: away, link: away },
    outgoing: { place: away, placeLinkPicture: away },
    incoming: { fetch: away },
    pictures: { small: away },
  };
}

/** For specs whose pages show no pictures. */
export function noImages(): Pick<Images, 'thumbnailOf' | 'linkPictureOf'> {
  return { thumbnailOf: away, linkPictureOf: away };
}
