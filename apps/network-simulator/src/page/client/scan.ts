/// <reference lib="dom" />
import { base64Of, call } from './api.js';
import { showForm, attempt, field, h, announce, textIn } from './dom.js';

const LOOK_EVERY_MS = 5000;

/** Scans a linking code: of a login that waits, pasted text, a dropped or chosen PNG, or the address of one. */
export async function scan(phone: string): Promise<void> {
  const showing = await call<unknown[]>('GET', 'codes');
  const picked = h('input', { type: 'hidden', name: 'waiting' });
  const text = h('textarea', {
    name: 'qr',
    'aria-label': 'Text of the code',
    placeholder: 'Paste the text of the code',
  });
  const file = h('input', { type: 'file', name: 'file', accept: 'image/png' });
  const drop = h('div', { class: 'drop' }, 'Drop the PNG here, or choose it: ', file);
  drop.addEventListener('dragover', (event) => {
    event.preventDefault();
    drop.classList.add('over');
  });
  drop.addEventListener('dragleave', () => drop.classList.remove('over'));
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    if (event.dataTransfer?.files.length) file.files = event.dataTransfer.files;
  });
  const clients = showing.length === 1 ? 'One client shows a code now.' : `${showing.length} clients show a code now.`;
  const list = h('ul', { class: 'waiting', 'aria-label': 'Logins that wait', tabindex: '-1', autofocus: true });
  const look = () => listWaiting(list, picked);
  const fields = [
    picked,
    list,
    h('p', { class: 'quiet' }, clients),
    h('label', {}, 'Text', text),
    drop,
    field('Address of the picture', 'url', { type: 'url', placeholder: 'http://…/users/login/image?token=…' }),
  ];
  const looking = setInterval(() => attempt(look), LOOK_EVERY_MS);
  attempt(look);
  const send = async (form: FormData): Promise<void> => {
    const { device } = await call<{ device: number }>('POST', `phones/${phone}/scan`, await codeIn(form));
    announce(`Linked as device ${device}.`);
  };
  await showForm(`Scan as ${phone}`, fields, 'Scan', send).finally(() => clearInterval(looking));
}

/** What was given of the code, as the control API takes it. */
async function codeIn(form: FormData): Promise<object> {
  const waiting = textIn(form, 'waiting');
  if (waiting) return { waiting };
  const qr = textIn(form, 'qr');
  if (qr) return { qr };
  const chosen = form.get('file');
  if (chosen instanceof File && chosen.size > 0) return { png: await base64Of(chosen) };
  const url = textIn(form, 'url');
  if (url) return { url };
  throw new Error('Pick a login, paste the text of a code, choose its picture, or type the address of its picture.');
}

/** Lists the logins that wait; one click or Enter links one. What has the focus keeps it. */
async function listWaiting(list: HTMLElement, picked: HTMLInputElement): Promise<void> {
  const logins = await call<{ name: string }[]>('GET', 'waiting-logins');
  const shown = [...list.querySelectorAll('button')].map(({ textContent }) => textContent);
  const names = logins.map(({ name }) => name);
  if (shown.length > 0 && shown.join('\n') === names.join('\n')) return;
  const pick = (name: string) => () => {
    picked.value = name;
    picked.form?.requestSubmit();
  };
  const items = names.map((name) =>
    h('li', {}, h('button', { type: 'button', onclick: pick(name), 'aria-label': `Link ${name}` }, name)),
  );
  list.replaceChildren(...(items.length > 0 ? items : [h('li', { class: 'quiet' }, 'No login waits to be picked.')]));
}
