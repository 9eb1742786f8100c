import { randomInt } from 'node:crypto';

/** Short words that are easy to pronounce and hard to confuse. */
const WORDS = [
  ...['ACORN', 'ALDER', 'AMBER', 'ASPEN', 'BADGER', 'BASIL', 'BEECH', 'BIRCH', 'BRAMBLE', 'BREEZE', 'BROOK', 'CEDAR'],
  ...['CLOVER', 'COMET', 'CORAL', 'CRANE', 'DAISY', 'DAWN', 'DELTA', 'DORMOUSE', 'DUNE', 'EAGLE', 'ELDER', 'EMBER'],
  ...['FALCON', 'FERN', 'FINCH', 'FJORD', 'GARNET', 'GINGER', 'GLADE', 'GROVE', 'HARBOR', 'HAZEL', 'HEATH', 'HERON'],
  ...['IRIS', 'ISLET', 'IVORY', 'JASMINE', 'JUNIPER', 'KESTREL', 'LAGOON', 'LARCH', 'LILAC', 'LINDEN', 'LOTUS'],
  ...['MAPLE', 'MARTEN', 'MEADOW', 'MINT', 'NETTLE', 'NUTMEG', 'OAK', 'OPAL', 'ORCHID', 'OTTER', 'PEBBLE', 'PINE'],
  ...['POPPY', 'PRAIRIE', 'QUAIL', 'QUARTZ', 'RAVEN', 'REED', 'RIVER', 'ROBIN', 'ROWAN', 'SAGE', 'SORREL', 'SPRUCE'],
  ...['SWIFT', 'TEAL', 'THISTLE', 'TIDE', 'TULIP', 'VALLEY', 'VIOLET', 'WILLOW', 'WREN', 'YARROW'],
] as const;

/** Without 0, 1, I, L, O and U, which are misread or spell something. */
const CHARACTERS = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 5;

/** A random channel id, `WORD-XXXXX`. There are some two thousand million of them, so the caller must check that it is new. */
export function newChannelId(random: (below: number) => number = randomInt): string {
  const word = WORDS[random(WORDS.length)] ?? WORDS[0];
  const suffix = Array.from({ length: LENGTH }, () => CHARACTERS.charAt(random(CHARACTERS.length))).join('');
  return `${word}-${suffix}`;
}
