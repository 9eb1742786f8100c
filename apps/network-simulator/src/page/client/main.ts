/// <reference lib="dom" />
import { call, type PhoneSummary } from './api.js';
import { arrowKeys, showForm, attempt, byId, field, h, redraw, textIn } from './dom.js';
import { showFaults } from './fault-panel.js';
import { PhoneColumn } from './phone-column.js';

const SHOWN_AT_FIRST = 3;

const columns = new Map<string, PhoneColumn>();
const main = byId('phones');
const rail = byId('rail');

/** Lists the phones; the pressed ones are shown as columns. */
async function listPhones(): Promise<void> {
  const phones = await call<PhoneSummary[]>('GET', 'phones');
  if (columns.size === 0) for (const { phone } of phones.slice(0, SHOWN_AT_FIRST)) show(phone);
  const buttons = phones.map(({ phone, name }) => {
    const pressed = String(columns.has(phone));
    return h(
      'button',
      { type: 'button', 'aria-pressed': pressed, 'data-focus': phone, onclick: () => toggle(phone) },
      `${name} +${phone}`,
    );
  });
  redraw(() => rail.replaceChildren(...buttons));
  const hint = h('p', { class: 'empty' }, 'Nobody is on this network yet. Make two phones and let them talk.');
  if (phones.length === 0) main.replaceChildren(hint);
  else main.querySelector('.empty')?.remove();
}

function show(phone: string): void {
  const column = new PhoneColumn(phone);
  columns.set(phone, column);
  main.append(column.element);
}

function toggle(phone: string): void {
  const present = columns.get(phone);
  if (present) {
    present.close();
    columns.delete(phone);
  } else show(phone);
  attempt(listPhones);
}

async function newPhone(): Promise<void> {
  const form = await showForm(
    'New phone',
    [field('Name', 'name'), field('Number (made up when empty)', 'phone', { inputmode: 'tel' })],
    'Create',
  );
  if (!form) return;
  const name = textIn(form, 'name');
  const phone = textIn(form, 'phone').replace(/\D/g, '');
  const made = await call<PhoneSummary>('POST', 'phones', { ...(name && { name }), ...(phone && { phone }) });
  if (!columns.has(made.phone)) show(made.phone);
  await listPhones();
}

// A network may have thousands of phones: they are one stop of the Tab key.
arrowKeys(rail, 'button');
byId('new-phone').addEventListener('click', () => attempt(newPhone));
byId('faults').addEventListener('click', () => {
  const panel = byId('fault-panel');
  panel.hidden = !panel.hidden;
  byId('faults').setAttribute('aria-expanded', String(!panel.hidden));
  if (!panel.hidden) attempt(() => showFaults(panel));
});
attempt(listPhones);
