/** Country rules under which people type a number otherwise than the network names it. */
const VARIANTS: { pattern: RegExp; other: (match: RegExpExecArray) => string }[] = [
  // Brazil: mobile numbers got a ninth digit; many accounts are still named without it.
  { pattern: /^(55\d{2})9(\d{8})$/, other: ([, area = '', rest = '']) => area + rest },
  { pattern: /^(55\d{2})([6-9]\d{7})$/, other: ([, area = '', rest = '']) => `${area}9${rest}` },
  // Mexico: a 1 after the country code marks mobiles.
  { pattern: /^521(\d{10})$/, other: ([, rest = '']) => `52${rest}` },
  { pattern: /^52([2-9]\d{9})$/, other: ([, rest = '']) => `521${rest}` },
  // Argentina: a 9 after the country code marks mobiles.
  { pattern: /^549(\d{10})$/, other: ([, rest = '']) => `54${rest}` },
  { pattern: /^54([1-8]\d{9})$/, other: ([, rest = '']) => `549${rest}` },
];

/** The digits as typed, then the other ways in which the same number may be known. */
export function waysToName(digits: string): string[] {
  const others = VARIANTS.flatMap(({ pattern, other }) => {
    const match = pattern.exec(digits);
    return match ? [other(match)] : [];
  });
  return [digits, ...others];
}
