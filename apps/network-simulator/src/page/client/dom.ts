/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

type Child = Node | string | undefined | false;
type Properties = Record<string, string | number | boolean | undefined | ((event: Event) => void)>;

/** Makes an element: functions become listeners (`onclick`), other things attributes; `false` and absent ones are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** The element with this id. Throws when the page has none. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no ${id}.`);
  return element;
}

let clearing: ReturnType<typeof setTimeout> | undefined;

/** Shows a message for a moment; screen readers read it out. */
export function announce(text: string): void {
  byId('notice').textContent = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => (byId('notice').textContent = ''), 5000);
}

/** The name of what has the focus (`data-focus`), by which it is found again after it was drawn anew. */
export function focusName(): string | undefined {
  return document.activeElement?.closest<HTMLElement>('[data-focus]')?.dataset['focus'];
}

/** Gives the focus to what has this name; nothing happens when there is no such thing. */
export function refocus(name: string | undefined): void {
  if (name !== undefined) document.querySelector<HTMLElement>(`[data-focus="${CSS.escape(name)}"]`)?.focus();
}

/**
 * Draws something anew; what had the focus and is there again under the same `data-focus` has it afterwards. If it is not
 * there again, what is named `otherwise` gets the focus: who uses the keyboard alone would have to begin at the top.
 */
export function redraw(draw: () => void, otherwise?: string): void {
  const name = focusName();
  const held = document.activeElement;
  draw();
  if (held?.isConnected !== false) return;
  refocus(name);
  if (document.activeElement === document.body) refocus(otherwise);
}

/**
 * Makes a list one stop of the Tab key: inside, the arrow keys, Home and End move between the elements that fit. The last
 * one is the stop at first, because the newest is what one wants.
 */
export function arrowKeys(list: HTMLElement, selector: string): void {
  const all = () => [...list.querySelectorAll<HTMLElement>(selector)];
  const settle = (chosen: HTMLElement | undefined) => {
    for (const element of all()) element.tabIndex = element === chosen ? 0 : -1;
  };
  list.addEventListener('keydown', (event) => {
    const elements = all();
    const at = elements.findIndex((element) => element === document.activeElement);
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: elements.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    elements[to]?.focus();
  });
  list.addEventListener('focusin', (event) => {
    const target = event.target as HTMLElement;
    if (target.matches(selector)) settle(target);
  });
  new MutationObserver(() =>
    settle(all().find((element) => element === document.activeElement) ?? all().at(-1)),
  ).observe(list, { childList: true });
}

/** Runs something and shows what went wrong, if it did. */
export function attempt(job: () => Promise<unknown>): void {
  job().catch((error: unknown) => announce(sentenceOf(error)));
}

/** What went wrong, in words. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What was written into a field of a form; empty when there is none. */
export function textIn(form: FormData | undefined, name: string): string {
  const value = form?.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** What was chosen in the fields of this name. */
export function textsIn(form: FormData, name: string): string[] {
  return form.getAll(name).filter((value) => typeof value === 'string');
}

/**
 * A form in a dialog; resolves when it is sent, with its fields and the button that sent it; `undefined` when it is left.
 * Escape leaves it. Without an action, the fields hold the buttons. Where `send` fails its error is shown and the dialog
 * stays, with all that was typed. The focus returns to where it came from, even if that was drawn anew meanwhile.
 */
export function showForm(
  title: string,
  fields: HTMLElement[],
  action?: string,
  send?: (form: FormData) => Promise<unknown>,
): Promise<FormData | undefined> {
  const from = focusName();
  return new Promise((resolve) => {
    const problem = h('div', { class: 'problem', role: 'alert' });
    const form = h(
      'form',
      { method: 'dialog' },
      h('h2', {}, title),
      ...fields,
      problem,
      h(
        'div',
        { class: 'row' },
        h('button', { type: 'button', onclick: () => dialog.close() }, action === undefined ? 'Close' : 'Cancel'),
        action !== undefined && h('button', { type: 'submit', class: 'main' }, action),
      ),
    );
    const dialog = h('dialog', { 'aria-label': title }, form);
    let sent: FormData | undefined;
    let sending = false;
    form.addEventListener('submit', (event) => {
      const data = new FormData(form, event.submitter);
      if (!send) {
        sent = data;
        return;
      }
      event.preventDefault();
      if (sending) return;
      sending = true;
      problem.textContent = '';
      send(data)
        .then(() => {
          sent = data;
          dialog.close();
        })
        .catch((error: unknown) => (problem.textContent = sentenceOf(error)))
        .finally(() => (sending = false));
    });
    dialog.addEventListener('close', () => {
      dialog.remove();
      if (document.activeElement === document.body) refocus(from);
      resolve(sent);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

const HUES = 12;

/** The initials of a name in a disc, for the eye only; the same name has always the same colour. */
export function avatar(name: string): HTMLElement {
  const words = name.split(/\s+/).filter((word) => word !== '');
  const initials = words.slice(0, 2).map((word) => [...word][0] ?? '');
  const hue = ([...name].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % HUES) * (360 / HUES);
  return h('span', { class: 'avatar', style: `--hue: ${hue}`, 'aria-hidden': 'true' }, initials.join('').toUpperCase());
}

/** A labelled field for {@link showForm}. */
export function field(label: string, name: string, properties: Properties = {}): HTMLElement {
  return h('label', {}, label, h('input', { name, ...properties }));
}
