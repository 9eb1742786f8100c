/** Something asked of the network that it refuses; `code` is the number the asker gets (stanza error or HTTP status). */
export class Refusal extends Error {
  constructor(
    readonly code: number,
    readonly text: string,
  ) {
    super(text);
  }
}
