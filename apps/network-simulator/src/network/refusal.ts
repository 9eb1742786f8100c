/** A request that the network refuses; `code` is the number the requester gets (stanza error or HTTP status). */
export class Refusal extends Error {
  constructor(
    readonly code: number,
    readonly text: string,
  ) {
    super(text);
  }
}
