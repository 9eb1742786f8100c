/// <reference lib="dom" />
import { call, type FaultEvent, type PhoneSummary } from './api.js';
import { showConnectGuide } from './connect-guide.js';
import { arrowKeys, showForm, attempt, byId, field, h, redraw, textIn } from './dom.js';
import { FaultPanel } from './fault-panel.js';
import { numberIn } from './numbers.js';
import { PhoneColumn } from './phone-column.js';
import { remember, remembered } from './remembered.js';
import { TracePanel } from './trace-panel.js';

const SHOWN_AT_FIRST = 3;
const SHOWN = 'phones shown';

const columns = new Map<string, PhoneColumn>();
const main = byId('phones');
const rail = byId('rail');
const faults = new FaultPanel(byId('fault-panel'));
/** Who is on the network, by number. */
const people = new Map<string, PhoneSummary>();
const trace = new TracePanel(byId('trace-panel'), byId('trace'), people);

/** The phones that were shown last; until somebody chose, the first ones. */
const chosen = remembered(SHOWN);
let shown: string[] | undefined = Array.isArray(chosen) ? chosen.map(String) : undefined;

/** Lists the phones; the pressed ones are shown as columns. */
async function listPhones(): Promise<void> {
  const phones = await call<PhoneSummary[]>('GET', 'phones');
  people.clear();
  for (const person of phones) people.set(person.phone, person);
  for (const phone of columns.keys()) if (!people.has(phone)) hide(phone);
  const wanted =
    shown?.filter((phone) => people.has(phone)) ?? phones.slice(0, SHOWN_AT_FIRST).map(({ phone }) => phone);
  for (const phone of wanted) show(phone);
  const buttons = phones.map(({ phone, name }) => {
    const pressed = String(columns.has(phone));
    return h(
      'button',
      { type: 'button', 'aria-pressed': pressed, 'data-focus': phone, onclick: () => toggle(phone) },
      `${name} +${phone}`,
    );
  });
  redraw(() => rail.replaceChildren(...buttons));
  faults.setPeople(phones);
  trace.listWhom();
  if (phones.length > 0) main.querySelector('.empty')?.remove();
  else main.replaceChildren(emptyPage());
}

function emptyPage(): HTMLElement {
  const button = (label: string, job: () => Promise<unknown>) =>
    h('button', { type: 'button', class: 'main', onclick: () => attempt(job) }, label);
  return h(
    'div',
    { class: 'empty' },
    h('p', {}, 'Nobody is on this network yet. Make two phones and let them talk, or link a bot to one.'),
    h('div', { class: 'row center' }, button('Make a phone', newPhone), button('Connect a bot', showConnectGuide)),
  );
}

function show(phone: string): void {
  if (columns.has(phone)) return;
  const column = new PhoneColumn(phone, people, (device) => trace.open({ phone, device }));
  columns.set(phone, column);
  main.append(column.element);
}

function hide(phone: string): void {
  columns.get(phone)?.close();
  columns.delete(phone);
}

function rememberShown(): void {
  shown = [...columns.keys()];
  remember(SHOWN, shown);
}

function toggle(phone: string): void {
  if (columns.has(phone)) hide(phone);
  else show(phone);
  rememberShown();
  attempt(listPhones);
}

async function newPhone(): Promise<void> {
  await showForm(
    'New phone',
    [field('Name', 'name'), field('Number (made up when empty)', 'phone', { inputmode: 'tel' })],
    'Create',
    async (form) => {
      const name = textIn(form, 'name');
      const typed = textIn(form, 'phone');
      const phone = typed === '' ? undefined : numberIn(typed);
      const made = await call<PhoneSummary>('POST', 'phones', { ...(name && { name }), ...(phone && { phone }) });
      people.set(made.phone, made);
      show(made.phone);
      rememberShown();
      await listPhones();
    },
  );
}

// A network may have thousands of phones: they are one stop of the Tab key.
arrowKeys(rail, 'button');
byId('new-phone').addEventListener('click', () => attempt(newPhone));
byId('connect').addEventListener('click', () => attempt(showConnectGuide));
byId('faults').addEventListener('click', () => {
  const panel = byId('fault-panel');
  panel.hidden = !panel.hidden;
  byId('faults').setAttribute('aria-expanded', String(!panel.hidden));
  if (!panel.hidden) attempt(() => faults.refresh());
});

const stream = new EventSource('stream');
stream.addEventListener('ready', () => attempt(listPhones));
stream.addEventListener('phones', () => attempt(listPhones));
stream.addEventListener('fault', (event: MessageEvent<string>) => faults.notice(JSON.parse(event.data) as FaultEvent));
