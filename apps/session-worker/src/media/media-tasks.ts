/** What the media process does for the worker: the inputs and results that pass between the two. */

/** A path on disk, or the bytes themselves where they are few. */
export type ImageSource = string | Uint8Array;

/** A small JPEG, base64, and the size its image is shown at. */
export interface ShownThumbnail {
  thumbnail: string;
  width: number;
  height: number;
}

export interface LinkPicture {
  jpeg: Uint8Array;
  width: number;
  height: number;
}

export interface MadeSticker {
  width: number;
  height: number;
  animated: boolean;
  /** A new file lies at the target; else the source passes as it is. */
  converted: boolean;
}

/** Every task: what it is given and what it makes. */
export interface MediaTasks {
  thumbnail(input: { source: ImageSource; small: boolean }): Promise<ShownThumbnail>;
  linkPicture(input: { source: ImageSource }): Promise<LinkPicture>;
  image(input: { path: string; target: string; asIs: boolean }): Promise<ShownThumbnail & { converted: boolean }>;
  sticker(input: { path: string; target: string }): Promise<MadeSticker>;
  icon(input: { path: string }): Promise<Uint8Array>;
  /** Undefined when the file does not say it in a way that can be read within bounds. */
  pdfPages(input: { path: string }): Promise<number | undefined>;
}

export type MediaTask = keyof MediaTasks;
export type TaskInput<Task extends MediaTask> = Parameters<MediaTasks[Task]>[0];
export type TaskResult<Task extends MediaTask> = Awaited<ReturnType<MediaTasks[Task]>>;

/** One task on its way to the media process. */
export type TaskRequest = { [Task in MediaTask]: { task: Task; input: TaskInput<Task> } }[MediaTask];

/** What comes back. `refused` is the file's fault, `failed` is not known to be anybody's. */
export type TaskReply = { result: unknown } | { refused: string } | { failed: string };
