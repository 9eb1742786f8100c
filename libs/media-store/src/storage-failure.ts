import { GatewayError } from '@dormouse/gateway-contract';
import { ObjectStorageError } from '@dormouse/object-storage';

/** What a customer is told when the object storage fails: 502, to be tried again. Other errors stay as they are. */
export function storageFailure(error: unknown): unknown {
  if (!(error instanceof ObjectStorageError)) return error;
  return new GatewayError(502, { details: 'the media storage is not reachable' }, { cause: error });
}
