/** Fields of which any may be absent in the network's way (undefined, null). */
type Maybe<Shape> = { [Field in keyof Shape]: Shape[Field] | null | undefined };

/** The fields that are there; empty text counts as absent, as the network writes it for "none". */
export function present<Shape extends object>(fields: Maybe<Shape>): Partial<Shape> {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return Object.fromEntries(kept) as Partial<Shape>;
}

/** A number of the network, which writes 64-bit ones as objects; undefined for none. */
export function toNumber(value: number | { toNumber(): number } | null | undefined): number | undefined {
  if (value === null || value === undefined) return undefined;
  return typeof value === 'number' ? value : value.toNumber();
}

/** Bytes as base64; undefined for none. */
export function toBase64(bytes: Uint8Array | null | undefined): string | undefined {
  return bytes?.length ? Buffer.from(bytes).toString('base64') : undefined;
}

/** A small picture as data: URI; undefined for none. */
export function toPreview(jpeg: Uint8Array | null | undefined): string | undefined {
  const base64 = toBase64(jpeg);
  return base64 && `data:image/jpeg;base64,${base64}`;
}
