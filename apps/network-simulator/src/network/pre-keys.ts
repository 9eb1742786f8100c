const ENTRY_BYTES = 35;

export interface OneTimePreKey {
  id: number;
  value: Buffer;
}

/** One-time keys of a device, packed (3 bytes id, 32 bytes key): devices upload 812 at once, and there are thousands. */
export class PreKeyStock {
  constructor(
    private packed: Buffer = Buffer.alloc(0),
    private takenCount = 0,
  ) {}

  get count(): number {
    return this.packed.length / ENTRY_BYTES - this.takenCount;
  }

  /** How many of the stored keys have been handed out. */
  get taken(): number {
    return this.takenCount;
  }

  get bytes(): Buffer {
    return this.packed;
  }

  add(keys: OneTimePreKey[]): void {
    const added = Buffer.alloc(keys.length * ENTRY_BYTES);
    keys.forEach(({ id, value }, index) => {
      added.writeUIntBE(id, index * ENTRY_BYTES, 3);
      added.set(value, index * ENTRY_BYTES + 3);
    });
    this.packed = Buffer.concat([this.packed.subarray(this.takenCount * ENTRY_BYTES), added]);
    this.takenCount = 0;
  }

  /** Hands out a key that nobody gets again; `undefined` when there is none left. */
  take(): OneTimePreKey | undefined {
    if (this.count <= 0) return undefined;
    const at = this.takenCount++ * ENTRY_BYTES;
    return { id: this.packed.readUIntBE(at, 3), value: Buffer.from(this.packed.subarray(at + 3, at + ENTRY_BYTES)) };
  }
}
