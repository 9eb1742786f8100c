import { fileURLToPath } from 'node:url';
import type { Logger } from '@dormouse/bootstrap';
import type { RegionalDatabase } from '@dormouse/database';
import { Spool } from '@dormouse/media-files';
import { NetworkMedia } from '@dormouse/media-store/network';
import { MediaReader } from '@dormouse/media-store/read';
import type { ObjectStorage } from '@dormouse/object-storage';
import type { WorkerConfig } from '../config.js';
import { Ffmpeg, findFfmpeg } from '../media/ffmpeg.js';
import { Images } from '../media/images.js';
import { IncomingMedia } from '../media/incoming.js';
import { MediaHost } from '../media/media-host.js';
import { MediaProcess } from '../media/media-process.js';
import { NetworkPictures } from '../media/network-pictures.js';
import { OutgoingMedia } from '../media/outgoing.js';
import { Preparation } from '../media/preparation.js';

/** The ways of files through this worker. */
export interface WorkerMedia {
  readonly files: MediaReader;
  readonly outgoing: OutgoingMedia;
  readonly incoming: IncomingMedia;
  readonly images: Images;
  readonly pictures: NetworkPictures;
  readonly spool: Spool;
  /** Ends files with the messages they came with. */
  readonly endFiles: NetworkMedia['endFiles'];
  close(): Promise<void>;
}

/** What opens files, beside this one where it is built. */
const MEDIA_PROGRAM = fileURLToPath(new URL('../media/media-program.js', import.meta.url));

/** @throws when the spool cannot be used, or FFMPEG_PATH names no ffmpeg */
export async function openWorkerMedia(parts: {
  config: WorkerConfig['media'];
  database: RegionalDatabase;
  storage: ObjectStorage;
  log: Logger;
}): Promise<WorkerMedia> {
  const { config, database, storage, log } = parts;
  const { limits, linkTtlS, retentionMs, maxBytesPerChannel } = config;
  const [spool, path] = await Promise.all([Spool.open(config.spoolDirectory), findFfmpeg(config.ffmpegPath)]);
  if (path === undefined) log.warn('no ffmpeg: voice messages must come as Opus, videos have no preview');
  const host = new MediaHost({ origin: config.networkOrigin });
  const network = new NetworkMedia({ database, storage, retentionMs, maxBytesPerChannel });
  const process = new MediaProcess({ program: MEDIA_PROGRAM });
  const images = new Images(process);
  const ffmpeg = path === undefined ? undefined : new Ffmpeg({ path });
  const preparation = new Preparation({ spool, limits, ffmpeg, images });
  return {
    files: new MediaReader({ database, storage, linkTtlS }),
    outgoing: new OutgoingMedia({ network, storage, spool, limits, preparation, host }),
    incoming: new IncomingMedia({ network, spool, host, maxBytes: limits.document }),
    images,
    pictures: new NetworkPictures(host, images),
    spool,
    endFiles: network.endFiles.bind(network),
    close: () => {
      process.close();
      return host.close();
    },
  };
}
