/** Why an object could not be read or written. */
export type ObjectStorageFailure =
  /** There is no such object. */
  | 'missing'
  /** The condition of a conditional write or read did not hold: somebody else was first. */
  | 'conflict'
  /** The range lies outside the object. */
  | 'range'
  /** The storage did not answer, or answered with 5xx or 429, on every attempt. Worth trying later. */
  | 'away'
  /** The storage answered and refused: wrong credentials, no such bucket, a request it does not support. */
  | 'refused';

/** The only error this project throws, apart from the reason of an aborted signal. */
export class ObjectStorageError extends Error {
  constructor(
    readonly failure: ObjectStorageFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ObjectStorageError';
  }
}

export function isObjectFailure(error: unknown, failure: ObjectStorageFailure): boolean {
  return error instanceof ObjectStorageError && error.failure === failure;
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('$metadata' in error)) return undefined;
  const metadata = error.$metadata;
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined;
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

function nameOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const name: unknown = 'name' in error ? error.name : undefined;
  return typeof name === 'string' ? name : '';
}

function failureOf(status: number | undefined, name: string): ObjectStorageFailure {
  // S3 names its refusals; HEAD answers have no body, so the status has to do.
  if (name === 'NoSuchBucket') return 'refused';
  if (status === 404) return 'missing';
  // 409 ConditionalRequestConflict: a racing write of the same key; for the caller the same as a lost race.
  if (status === 412 || status === 409 || status === 304) return 'conflict';
  if (status === 416) return 'range';
  if (status === undefined || status >= 500 || status === 429 || status === 408) return 'away';
  return 'refused';
}

/** The error of this project for one of the S3 client; the message names the operation and key, never credentials. */
export function toObjectStorageError(error: unknown, doing: string): ObjectStorageError {
  if (error instanceof ObjectStorageError) return error;
  const status = statusOf(error);
  const name = nameOf(error);
  const failure = failureOf(status, name);
  const answer = status === undefined ? name || 'no answer' : `${status} ${name}`.trim();
  return new ObjectStorageError(failure, `object storage: ${doing}: ${failure} (${answer})`, { cause: error });
}
