import type { Wire } from '../wire/expansion.js';

export type WireObject = { [name: string]: Wire };

/** Parts of objects that are the same for everybody here. */
export const NEVER = {
  address: { city: null, country: null, line1: null, line2: null, postal_code: null, state: null },
  automaticTax: { disabled_reason: null, enabled: false, liability: null },
};

/** A record as plain JSON: what is undefined is not there. */
export function plain(value: object): WireObject {
  return JSON.parse(JSON.stringify(value)) as WireObject;
}

/** A whole list, as lists inside objects are. */
export function pageOf(data: WireObject[], url: string): WireObject {
  return { object: 'list', data, has_more: false, total_count: data.length, url };
}

/** Cents as the API writes decimals. */
export function decimal(cents: number): string {
  return String(cents);
}
