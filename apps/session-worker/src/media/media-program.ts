/**
 * The media process: opens files made by strangers, one at a time. It has no secrets, no connections and a bound on its
 * memory; the worker kills it when a file takes too long (see media-process.ts).
 */
import { FileRefused } from './file-refused.js';
import { iconOf, imageOf, linkPictureOf, stickerOf, thumbnailOf } from './image-work.js';
import type { MediaTasks, TaskReply, TaskRequest } from './media-tasks.js';
import { pdfPageCount } from './pdf-pages.js';

const TASKS: MediaTasks = {
  thumbnail: ({ source, small }) => thumbnailOf(source, { small }),
  linkPicture: ({ source }) => linkPictureOf(source),
  image: ({ path, ...options }) => imageOf(path, options),
  sticker: ({ path, target }) => stickerOf(path, { target }),
  icon: ({ path }) => iconOf(path),
  pdfPages: ({ path }) => pdfPageCount(path),
};

function perform(request: TaskRequest): Promise<unknown> {
  switch (request.task) {
    case 'thumbnail':
      return TASKS.thumbnail(request.input);
    case 'linkPicture':
      return TASKS.linkPicture(request.input);
    case 'image':
      return TASKS.image(request.input);
    case 'sticker':
      return TASKS.sticker(request.input);
    case 'icon':
      return TASKS.icon(request.input);
    case 'pdfPages':
      return TASKS.pdfPages(request.input);
  }
}

async function reply(request: TaskRequest): Promise<TaskReply> {
  try {
    return { result: await perform(request) };
  } catch (error) {
    if (error instanceof FileRefused) return { refused: error.reason };
    return { failed: error instanceof Error ? error.name : 'unknown' };
  }
}

process.on('message', (request: TaskRequest) => {
  void reply(request).then((result) => process.send?.(result));
});
// The worker decides when this process ends; without the worker it ends itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
