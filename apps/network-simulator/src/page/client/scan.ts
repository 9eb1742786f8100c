/// <reference lib="dom" />
import { base64Of, call } from './api.js';
import { ask, field, h, say, textIn } from './dom.js';

/** Scans a linking code: pasted text, a dropped or chosen PNG, or the address of one. */
export async function scan(phone: string): Promise<void> {
  const waiting = await call<{ ref: string; platform: string }[]>('GET', 'codes');
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
  const showing = waiting.length === 1 ? 'One client shows a code now.' : `${waiting.length} clients show a code now.`;
  const fields = [
    h('p', { class: 'quiet' }, showing),
    h('label', {}, 'Text', text),
    drop,
    field('Address of the picture', 'url', { type: 'url', placeholder: 'http://…/users/login/image?token=…' }),
  ];
  const form = await ask(`Scan as ${phone}`, fields, 'Scan');
  if (!form) return;
  const chosen = form.get('file');
  const qr = textIn(form, 'qr');
  const url = textIn(form, 'url');
  const png = chosen instanceof File && chosen.size > 0 ? await base64Of(chosen) : undefined;
  const body = qr ? { qr } : png !== undefined ? { png } : { url };
  const { device } = await call<{ device: number }>('POST', `phones/${phone}/scan`, body);
  say(`Linked as device ${device}.`);
}
