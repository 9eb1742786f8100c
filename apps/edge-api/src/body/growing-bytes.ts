/** Bytes that are added to, and cut, at their end; in one piece of memory however small the pieces are. */
export class GrowingBytes {
  #bytes = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(piece: Uint8Array): void {
    const needed = this.#length + piece.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.#length);
    this.#length = needed;
  }

  /** Cuts everything from here on off, and returns a copy of it. */
  cut(from: number): Buffer {
    const rest = Buffer.from(this.#bytes.subarray(from, this.#length));
    this.#length = from;
    return rest;
  }

  text(from = 0, until = this.#length): string {
    return this.#bytes.toString('utf8', from, until);
  }
}
