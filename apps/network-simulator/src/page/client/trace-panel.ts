/// <reference lib="dom" />
import { call, type TracedStanza } from './api.js';
import { arrowKeys, focusName, h, redraw, refocus, sentenceOf } from './dom.js';
import { TraceFeed } from './trace-feed.js';
import { searchText, traceRow, type People } from './trace-row.js';

const EVERY_MS = 1000;
const MOST_SHOWN = 200;
/** From here on the end of the list counts as reached: it stays in sight when more comes. */
const NEAR_END_PX = 40;
/** Gets the focus when the row that had it is gone. */
const STANZAS = 'stanzas';

/** A linked device. */
interface Place {
  phone: string;
  device: number;
}

/** The last stanzas of all connections, or of a phone or device. It follows them while it is open. */
export class TracePanel {
  private readonly heading = h('h2', { tabindex: -1 }, 'Trace');
  private readonly whom = h('select', { onchange: () => this.restart() });
  private readonly text = h('input', { name: 'text', autocomplete: 'off', oninput: () => this.searched() });
  private readonly status = h('p', { class: 'quiet' });
  private readonly list = h('ol', { class: 'stanzas', tabindex: 0, 'data-focus': STANZAS, 'aria-label': 'Stanzas' });
  private readonly rows = new Map<number, { item: HTMLLIElement; decrypted: boolean }>();
  private entries: readonly TracedStanza[] = [];
  /** The device that can be chosen besides the phones. */
  private place: Place | undefined;
  /** What is followed; absent while the panel is closed. */
  private feed: TraceFeed | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** What had the focus when the panel was opened. */
  private openedFrom: string | undefined;

  /**
   * @param button opens and closes the panel
   * @param people who is on the network; {@link listWhom} follows its changes
   */
  constructor(
    private readonly panel: HTMLElement,
    private readonly button: HTMLElement,
    private readonly people: People,
  ) {
    button.addEventListener('click', () => (this.feed ? this.close() : this.open()));
    panel.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') this.close();
    });
    arrowKeys(this.list, 'summary');
    panel.replaceChildren(
      h(
        'header',
        {},
        this.heading,
        h('label', {}, 'Of', this.whom),
        h('label', {}, 'With the text', this.text),
        h('button', { type: 'button', 'aria-label': 'Close the trace', onclick: () => this.close() }, 'Close'),
      ),
      h('p', { class: 'quiet' }, 'in: from the client to the network. out: from the network to the client.'),
      this.status,
      this.list,
    );
  }

  /** Opens the panel, with the stanzas of one device if it is given. */
  open(place?: Place): void {
    this.openedFrom = focusName();
    if (place) {
      this.place = place;
      this.text.value = '';
    }
    this.listWhom(place && valueOf(place));
    this.setOpen(true);
    this.restart();
    this.panel.scrollIntoView({ block: 'start' });
    this.heading.focus();
  }

  /** Lists whose stanzas can be chosen. */
  listWhom(chosen = this.whom.value): void {
    const { place } = this;
    const before = this.whom.value;
    const options = [{ value: '', label: 'All connections' }];
    for (const { phone, name } of this.people.values()) {
      options.push({ value: phone, label: `${name} +${phone}` });
      if (place?.phone !== phone) continue;
      options.push({ value: valueOf(place), label: `${name} +${phone}, device ${place.device}` });
    }
    this.whom.replaceChildren(
      ...options.map(({ value, label }) => h('option', { value, selected: value === chosen }, label)),
    );
    if (this.feed && this.whom.value !== before) this.restart();
  }

  private close(): void {
    this.feed = undefined;
    clearTimeout(this.timer);
    const hasFocus = () => this.panel.contains(document.activeElement);
    if (hasFocus()) refocus(this.openedFrom);
    if (hasFocus()) this.button.focus();
    this.setOpen(false);
    this.entries = [];
    this.clear();
  }

  private setOpen(isOpen: boolean): void {
    this.panel.hidden = !isOpen;
    this.button.setAttribute('aria-expanded', String(isOpen));
  }

  /** Reads the stanzas of what is chosen now, and follows them. */
  private restart(): void {
    clearTimeout(this.timer);
    const [phone = '', device = ''] = this.whom.value.split(' ');
    this.feed = new TraceFeed(({ limit, after }) => {
      const query = new URLSearchParams({ limit: String(limit) });
      if (phone !== '') query.set('phone', phone);
      if (device !== '') query.set('device', device);
      if (after !== undefined) query.set('after', String(after));
      return call('GET', `trace?${query.toString()}`);
    });
    this.clear();
    this.status.textContent = '';
    void this.follow(this.feed);
  }

  private async follow(feed: TraceFeed): Promise<void> {
    try {
      const entries = await feed.read();
      if (feed !== this.feed) return;
      this.entries = entries;
      this.show();
    } catch (error) {
      if (feed !== this.feed) return;
      this.status.textContent = `The trace cannot be read, trying again: ${sentenceOf(error)}`;
    }
    this.timer = setTimeout(() => void this.follow(feed), EVERY_MS);
  }

  private searched(): void {
    this.clear();
    this.show();
  }

  /** Draws what is new and removes what is too old; rows that stay are left as they are, opened ones open. */
  private show(): void {
    const wanted = this.text.value.trim().toLowerCase();
    const fitting =
      wanted === '' ? this.entries : this.entries.filter((entry) => searchText(entry, this.people).includes(wanted));
    const shown = fitting.slice(-MOST_SHOWN);
    const { scrollHeight, scrollTop, clientHeight } = this.list;
    const atEnd = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    // Before the list: its first line makes the list smaller.
    this.status.textContent = countOf(shown.length, fitting.length);
    redraw(() => this.draw(shown), STANZAS);
    if (atEnd) this.list.scrollTop = this.list.scrollHeight;
  }

  private draw(shown: readonly TracedStanza[]): void {
    const wanted = new Set(shown.map(({ seq }) => seq));
    for (const [seq, { item }] of this.rows) {
      if (wanted.has(seq)) continue;
      item.remove();
      this.rows.delete(seq);
    }
    for (const entry of shown) {
      const present = this.rows.get(entry.seq);
      const decrypted = entry.message !== undefined;
      if (present?.decrypted === decrypted) continue;
      const item = traceRow(entry, this.people);
      if (present) present.item.replaceWith(item);
      else this.list.append(item);
      this.rows.set(entry.seq, { item, decrypted });
    }
  }

  private clear(): void {
    this.rows.clear();
    this.list.replaceChildren();
  }
}

const valueOf = ({ phone, device }: Place): string => `${phone} ${device}`;

function countOf(shown: number, fitting: number): string {
  if (fitting === 0) return 'No stanza fits.';
  if (fitting > shown) return `The last ${shown} of ${fitting} stanzas.`;
  return fitting === 1 ? '1 stanza.' : `${fitting} stanzas.`;
}
