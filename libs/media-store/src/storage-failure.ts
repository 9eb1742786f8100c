import { GatewayError } from '@dormouse/gateway-contract';
import { ObjectStorageError } from '@dormouse/object-storage';

/** The error when the object storage fails: 502, which may be retried. Other errors stay as they are. */
export function storageFailure(error: unknown): unknown {
  return error instanceof ObjectStorageError ? notReachable(error) : error;
}

/** The bytes of a stored object; a connection that breaks off in the middle is a failure of the storage like any other. */
export async function* storedBytes(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    throw notReachable(error);
  }
}

function notReachable(cause: unknown): GatewayError {
  return new GatewayError(502, { details: 'the media storage is not reachable' }, { cause });
}
