/** The tasks of the media process: inputs and results as they are passed between it and the worker. */

/** A path on disk, or the bytes themselves of a small image. */
export type ImageSource = string | Uint8Array;

/** A small JPEG, base64, and the size of the image it was made of, after rotation. */
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
  /** Whether a new file was written to the target; otherwise the source is sent unchanged. */
  converted: boolean;
}

/** Every task with its input and its result. */
export interface MediaTasks {
  thumbnail(input: { source: ImageSource; small: boolean }): Promise<ShownThumbnail>;
  linkPicture(input: { source: ImageSource }): Promise<LinkPicture>;
  image(input: { path: string; target: string; asIs: boolean }): Promise<ShownThumbnail & { converted: boolean }>;
  sticker(input: { path: string; target: string }): Promise<MadeSticker>;
  icon(input: { path: string }): Promise<Uint8Array>;
  /** Undefined when the count cannot be read within the bounds. */
  pdfPages(input: { path: string }): Promise<number | undefined>;
}

export type MediaTask = keyof MediaTasks;
export type TaskInput<Task extends MediaTask> = Parameters<MediaTasks[Task]>[0];
export type TaskResult<Task extends MediaTask> = Awaited<ReturnType<MediaTasks[Task]>>;

/** The request for one task. */
export type TaskRequest = { [Task in MediaTask]: { task: Task; input: TaskInput<Task> } }[MediaTask];

/** The reply. `refused`: the file is at fault, with the reason; `failed`: the name of an unexpected error. */
export type TaskReply = { result: unknown } | { refused: string } | { failed: string };
