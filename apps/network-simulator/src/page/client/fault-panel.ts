/// <reference lib="dom" />
import { call, type Fault, type PhoneSummary } from './api.js';
import { attempt, h, redraw, announce } from './dom.js';

/** What can be switched on, in words, and what is sent for it. */
const CHOICES: [string, object][] = [
  ['Drop the connection', { kind: 'drop' }],
  ['Drop with stream error 503', { kind: 'drop', code: 503 }],
  ['Refuse the next connection', { kind: 'refuse-connection' }],
  ['Refuse the next message (479)', { kind: 'refuse-send', code: 479 }],
  ['Refuse the next message (463)', { kind: 'refuse-send', code: 463 }],
  ['Hold acknowledgements', { kind: 'hold-acks' }],
  ['Delay acknowledgements by 3 s', { kind: 'delay-acks', ms: 3000 }],
  ['Slow line, 500 ms', { kind: 'delay', ms: 500, jitterMs: 200 }],
  ['Lose receipts', { kind: 'lose-receipts' }],
  ['Corrupt the next message', { kind: 'corrupt-message' }],
  ['Double the next message', { kind: 'duplicate-message' }],
  ['Placeholder instead of the next message', { kind: 'placeholder' }],
  ['Silent line', { kind: 'silence' }],
  ['Number unknown', { kind: 'make-unknown' }],
  ['Banned', { kind: 'ban' }],
  ['All files expired', { kind: 'expire-media' }],
  ['Slow file transfers', { kind: 'slow-media', ms: 200 }],
  ['Storm of reconnects', { kind: 'storm', times: 5, everyMs: 2000 }],
];

const SWITCH_ON = 'switch a fault on';

/** Shows what can go wrong and what does, and switches it. */
export async function showFaults(panel: HTMLElement): Promise<void> {
  const phones = await call<PhoneSummary[]>('GET', 'phones');
  const what = h(
    'select',
    { name: 'what', 'aria-label': 'Fault' },
    ...CHOICES.map(([label], index) => h('option', { value: index }, label)),
  );
  const whom = h(
    'select',
    { name: 'whom', 'aria-label': 'For' },
    h('option', { value: '' }, 'Everybody'),
    ...phones.map(({ phone, name }) => h('option', { value: phone }, `${name} +${phone}`)),
  );
  const list = h('ul', { 'aria-label': 'Faults in force' });
  const form = h(
    'form',
    {
      onsubmit: (event) => {
        event.preventDefault();
        attempt(() => begin(Number(what.value), whom.value).then(() => listFaults(list)));
      },
    },
    h('label', {}, 'What goes wrong', what),
    h('label', {}, 'For', whom),
    h('button', { type: 'submit', class: 'main', 'data-focus': SWITCH_ON }, 'Switch on'),
  );
  panel.replaceChildren(form, list);
  await listFaults(list);
}

async function begin(choice: number, phone: string): Promise<void> {
  const [label, fault] = CHOICES[choice] ?? [];
  if (!fault) return;
  await call('POST', 'faults', phone ? { ...fault, phone } : fault);
  announce(`${label}: on.`);
}

async function listFaults(list: HTMLElement): Promise<void> {
  const faults = await call<Fault[]>('GET', 'faults');
  const items = faults.map(({ id, kind, phone, count }) => {
    const label = `${kind}${phone === undefined ? '' : ` +${phone}`}${count === undefined ? '' : ` ×${count}`}`;
    const end = () => attempt(() => call('DELETE', `faults/${id}`).then(() => listFaults(list)));
    return h(
      'li',
      {},
      label,
      ' ',
      h('button', { type: 'button', 'data-focus': id, 'aria-label': `End ${label}`, onclick: end }, '×'),
    );
  });
  redraw(() => list.replaceChildren(...items), SWITCH_ON);
}
