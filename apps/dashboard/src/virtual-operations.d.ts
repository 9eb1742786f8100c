declare module 'virtual:operations' {
  import type { OperationName } from '@dormouse/management-contract';
  import type { HttpMethod } from './api/operation-types.js';

  /** Method and path, with the prefix and `{name}` for parameters, of every operation. */
  export const OPERATION_ADDRESSES: Readonly<Record<OperationName, readonly [HttpMethod, string]>>;
}
