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

/** Says something in passing; screen readers read it out. */
export function say(text: string): void {
  byId('notice').textContent = text;
  clearTimeout(clearing);
  clearing = setTimeout(() => (byId('notice').textContent = ''), 5000);
}

/** Runs something and says what went wrong, if it did. */
export function attempt(job: () => Promise<unknown>): void {
  job().catch((error: unknown) => say(error instanceof Error ? error.message : String(error)));
}

/** What was written into a field of a form; empty when there is none. */
export function textIn(form: FormData | undefined, name: string): string {
  const value = form?.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** A form in a dialog; resolves when it is sent, with its fields; `undefined` when it is left. Escape leaves it. */
export function ask(title: string, fields: HTMLElement[], action: string): Promise<FormData | undefined> {
  return new Promise((resolve) => {
    const form = h(
      'form',
      { method: 'dialog' },
      h('h2', {}, title),
      ...fields,
      h(
        'div',
        { class: 'row' },
        h('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'),
        h('button', { type: 'submit', class: 'main' }, action),
      ),
    );
    const dialog = h('dialog', { 'aria-label': title }, form);
    let given: FormData | undefined;
    form.addEventListener('submit', () => (given = new FormData(form)));
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(given);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A labelled field for {@link ask}. */
export function field(label: string, name: string, properties: Properties = {}): HTMLElement {
  return h('label', {}, label, h('input', { name, ...properties }));
}
