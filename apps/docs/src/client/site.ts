/** What pages can do with JavaScript: search, copy, choose the theme. Without it they are complete. */
import { findEntries, type SearchEntry } from './search.js';

const element = <Kind extends Element>(selector: string, kind: new () => Kind): Kind => {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`the page has no ${selector}`);
  return found;
};

function offerThemes(): void {
  const button = element('#theme', HTMLButtonElement);
  const system = matchMedia('(prefers-color-scheme: dark)');
  const root = document.documentElement;
  const isDark = () => (root.dataset['theme'] ?? (system.matches ? 'dark' : 'light')) === 'dark';
  const show = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', isDark() ? 'Light colours' : 'Dark colours');
  };
  button.addEventListener('click', () => {
    const theme = isDark() ? 'light' : 'dark';
    root.dataset['theme'] = theme;
    localStorage.setItem('dormouse-theme', theme);
    show();
  });
  system.addEventListener('change', show);
  button.hidden = false;
  show();
}

function offerCopies(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button.copy')) {
    const code = button.closest('figure')?.querySelector('code')?.textContent ?? '';
    button.hidden = false;
    button.addEventListener('click', () => {
      navigator.clipboard.writeText(code).then(
        () => (button.textContent = 'Copied'),
        () => (button.textContent = 'Select the text to copy it'),
      );
      button.addEventListener('blur', () => (button.textContent = 'Copy'), { once: true });
    });
  }
}

/** Only what scrolls is a stop of the Tab key. */
function stopAtScrollers(): void {
  const scrollers = document.querySelectorAll<HTMLElement>('pre, .table');
  const update = () => {
    for (const scroller of scrollers) {
      if (scroller.scrollWidth > scroller.clientWidth) scroller.tabIndex = 0;
      else scroller.removeAttribute('tabindex');
    }
  };
  update();
  addEventListener('resize', update);
}

function offerSearch(): void {
  const box = element('.search', HTMLElement);
  const input = element('#search', HTMLInputElement);
  const list = element('#results', HTMLUListElement);
  const count = element('#result-count', HTMLElement);
  let index: Promise<SearchEntry[]> | undefined;
  let shown: SearchEntry[] = [];
  let at = -1;

  const select = (next: number) => {
    at = next;
    [...list.children].forEach((item, place) => item.setAttribute('aria-selected', String(place === at)));
    const chosen = list.children[at];
    if (chosen) input.setAttribute('aria-activedescendant', chosen.id);
    else input.removeAttribute('aria-activedescendant');
    chosen?.scrollIntoView({ block: 'nearest' });
  };
  const show = (found: SearchEntry[], isSearching: boolean) => {
    shown = found;
    list.replaceChildren(...found.map(resultItem));
    list.hidden = found.length === 0;
    input.setAttribute('aria-expanded', String(found.length > 0));
    count.textContent = isSearching ? `${found.length} results` : '';
    select(-1);
  };
  const search = async () => {
    index ??= fetch(box.dataset['index'] ?? '').then((answer) => answer.json() as Promise<SearchEntry[]>);
    const words = input.value;
    const entries = await index;
    if (words === input.value) show(words.trim() === '' ? [] : findEntries(entries, words), words.trim() !== '');
  };
  input.addEventListener('input', () => {
    search().catch(() => {
      index = undefined;
      count.textContent = 'The search is not available now.';
    });
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') show([], false);
    else if (event.key === 'ArrowDown') select(Math.min(at + 1, shown.length - 1));
    else if (event.key === 'ArrowUp') select(Math.max(at - 1, 0));
    else if (event.key === 'Enter') location.href = (shown[at] ?? shown[0])?.address ?? location.href;
    else return;
    event.preventDefault();
  });
  input.addEventListener('blur', () => show([], false));
  list.addEventListener('mousedown', (event) => {
    event.preventDefault();
    const item = event.target instanceof Element ? event.target.closest('li') : null;
    const entry = shown[item ? [...list.children].indexOf(item) : -1];
    if (entry) location.href = entry.address;
  });
  box.hidden = false;
}

function resultItem({ title, page }: SearchEntry, place: number): HTMLLIElement {
  const item = document.createElement('li');
  item.id = `result-${place}`;
  item.setAttribute('role', 'option');
  item.setAttribute('aria-selected', 'false');
  const where = document.createElement('span');
  where.textContent = page;
  item.append(title, where);
  return item;
}

offerThemes();
offerCopies();
stopAtScrollers();
offerSearch();
