/// <reference lib="dom" />
import type { PhoneSummary, TracedStanza } from './api.js';
import { preciseTimeOf } from './dates.js';
import { h } from './dom.js';
import { stanzaText } from './stanza-text.js';

/** Longer texts are cut here, with the rest behind a click: a stanza may hold hundreds of keys. */
const SHOWN_CHARACTERS = 2000;

/** Who is on the network, by number. */
export type People = ReadonlyMap<string, PhoneSummary>;

/** The device at the client's end of the connection. */
export function deviceName({ phone, device, connection }: TracedStanza, people: People): string {
  if (phone === undefined) return `A client that is not logged in, connection ${connection}`;
  const name = people.get(phone)?.name;
  return `${name === undefined ? '' : `${name} `}+${phone}, device ${device}, connection ${connection}`;
}

/** All that is shown of a stanza, in lower case: what a search looks through. */
export function searchText(entry: TracedStanza, people: People): string {
  const { direction, stanza, message } = entry;
  return [direction, deviceName(entry, people), stanzaText(stanza), message ? messageText(message) : '']
    .join('\n')
    .toLowerCase();
}

/** A stanza with its time, direction and device, and the content of the message in it. */
export function traceRow(entry: TracedStanza, people: People): HTMLLIElement {
  const { seq, at, direction, stanza, message } = entry;
  return h(
    'li',
    { 'data-seq': seq },
    h(
      'div',
      { class: 'head' },
      h('time', { datetime: at }, preciseTimeOf(Date.parse(at), Date.now())),
      h('strong', { class: direction }, direction),
      h('span', {}, deviceName(entry, people)),
    ),
    ...longText(stanzaText(stanza)),
    message && h('details', {}, h('summary', {}, 'Decrypted content'), ...longText(messageText(message))),
  );
}

const messageText = (message: object): string => JSON.stringify(message, null, 2);

function longText(text: string): HTMLElement[] {
  const start = h('pre', {}, text.slice(0, SHOWN_CHARACTERS));
  if (text.length <= SHOWN_CHARACTERS) return [start];
  const rest = text.slice(SHOWN_CHARACTERS);
  return [start, h('details', {}, h('summary', {}, `The rest: ${rest.length} characters`), h('pre', {}, rest))];
}
