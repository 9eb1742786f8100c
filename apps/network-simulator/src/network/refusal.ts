/** A request that the network refuses; `code` is the number the requester gets (stanza error or HTTP status). */
export class Refusal extends Error {
  constructor(
    readonly code: number,
    readonly text: string,
  ) {
    super(text);
  }
}

/** The code of refusals of what the real network does and this one does not. */
export const NOT_SIMULATED = 501;

/** What the real network does and this one does not. */
export const notSimulated = (): Refusal => new Refusal(NOT_SIMULATED, 'feature-not-implemented');
