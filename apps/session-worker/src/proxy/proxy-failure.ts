/**
 * A connection through a channel's proxy failed. The message names neither the destination nor the password: the library's
 * error has both and is not kept as the cause.
 */
export class ProxyFailed extends Error {
  constructor(
    /** `refused`: the proxy answers, but rejects the password or the connection. */
    readonly how: 'unreachable' | 'refused',
    why: string,
  ) {
    super(`the proxy ${how === 'refused' ? 'refuses' : 'cannot be reached'}: ${why}`);
    this.name = 'ProxyFailed';
  }
}

/** The failure of a proxy in an error, or in the `data` of the library's own error. */
export function proxyFailureIn(error: unknown): ProxyFailed | undefined {
  if (error instanceof ProxyFailed) return error;
  const data: unknown = typeof error === 'object' && error !== null && 'data' in error ? error.data : undefined;
  return data instanceof ProxyFailed ? data : undefined;
}
