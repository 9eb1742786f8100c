/**
 * Nothing could be said through a channel's proxy. Says nothing of who was asked, or with which password: the error of
 * the library underneath holds both, and is let go of here.
 */
export class ProxyFailed extends Error {
  constructor(
    /** `refused`: it is there, but does not take the password, or does not connect us. */
    readonly how: 'unreachable' | 'refused',
    why: string,
  ) {
    super(`the proxy ${how === 'refused' ? 'refuses' : 'cannot be reached'}: ${why}`);
    this.name = 'ProxyFailed';
  }
}

/** The failure of a proxy in an error, or in what an error is about (the `data` of the library's own). */
export function proxyFailureIn(error: unknown): ProxyFailed | undefined {
  if (error instanceof ProxyFailed) return error;
  const data: unknown = typeof error === 'object' && error !== null && 'data' in error ? error.data : undefined;
  return data instanceof ProxyFailed ? data : undefined;
}
