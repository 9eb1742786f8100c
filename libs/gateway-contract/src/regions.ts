/** Region codes as they appear in tokens. A channel lives in one of them for ever. */
export const REGIONS = ['sg', 'use', 'usw', 'eu'] as const;
export type Region = (typeof REGIONS)[number];

export function isRegion(text: string): text is Region {
  return (REGIONS as readonly string[]).includes(text);
}
