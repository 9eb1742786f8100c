import { INTRO } from './noise.js';

const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;

/**
 * Cuts the client's byte stream into frames (three bytes of big-endian length, then the payload). A WebSocket message may
 * hold several frames or a part of one. In front of everything stand an optional edge-routing note (`ED`) and the intro.
 */
export class FrameReader {
  private buffered: Buffer = Buffer.alloc(0);
  private introduced = false;
  /** The edge-routing bytes that the client repeated from an earlier session, if it had any. */
  edgeRouting: Buffer | undefined;

  /** Adds bytes and returns the frames that are now complete. Throws on a stream that is not this protocol. */
  push(bytes: Buffer): Buffer[] {
    this.buffered = this.buffered.length ? Buffer.concat([this.buffered, bytes]) : bytes;
    if (this.buffered.length > MAX_BUFFERED_BYTES) throw new Error('The frame is too large.');
    if (!this.introduced && !this.readIntro()) return [];
    const frames: Buffer[] = [];
    while (this.buffered.length >= 3) {
      const length = this.buffered.readUIntBE(0, 3);
      if (this.buffered.length < 3 + length) break;
      frames.push(this.buffered.subarray(3, 3 + length));
      this.buffered = this.buffered.subarray(3 + length);
    }
    return frames;
  }

  private readIntro(): boolean {
    let at = 0;
    if (this.buffered.length >= 2 && this.buffered.toString('latin1', 0, 2) === 'ED') {
      if (this.buffered.length < 7) return false;
      const length = this.buffered.readUIntBE(4, 3);
      at = 7 + length;
      if (this.buffered.length < at) return false;
      this.edgeRouting = Buffer.from(this.buffered.subarray(7, at));
    }
    if (this.buffered.length < at + INTRO.length) return false;
    if (!this.buffered.subarray(at, at + INTRO.length).equals(INTRO)) throw new Error('The stream has no known intro.');
    this.buffered = this.buffered.subarray(at + INTRO.length);
    this.introduced = true;
    return true;
  }
}

/** One frame: length, then payload. */
export function frame(payload: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(3 + payload.length);
  framed.writeUIntBE(payload.length, 0, 3);
  framed.set(payload, 3);
  return framed;
}
