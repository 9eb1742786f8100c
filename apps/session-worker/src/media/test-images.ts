/** For specs: the media process of the build. */
import { fileURLToPath } from 'node:url';
import { Images } from './images.js';
import { MediaProcess, type MediaProcessOptions } from './media-process.js';

const PROGRAM = fileURLToPath(new URL('../../dist/media/media-program.js', import.meta.url));

export function mediaProcess(options: Partial<MediaProcessOptions> = {}): MediaProcess {
  return new MediaProcess({ program: PROGRAM, ...options });
}

/** What a message can be sent without may take as long as a busy machine needs: specs expect it. */
export function testImages(): { images: Images; close: () => void } {
  const process = mediaProcess();
  return { images: new Images(process, { extraTimeoutMs: 60_000 }), close: () => process.close() };
}
