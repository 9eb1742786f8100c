/// <reference lib="dom" />
import { call, type Fault, type FaultEvent, type PhoneSummary } from './api.js';
import { announce, attempt, h, redraw } from './dom.js';
import { FAULT_CHOICES, faultLabel } from './fault-catalogue.js';

const SWITCH_ON = 'switch a fault on';

/** What can go wrong and what does; it follows the faults as they begin, strike and end. */
export class FaultPanel {
  private readonly list = h('ul', { 'aria-label': 'Faults in force' });
  private readonly what = h(
    'select',
    { name: 'what', 'aria-label': 'Fault' },
    ...FAULT_CHOICES.map(({ label }, index) => h('option', { value: index }, label)),
  );
  private readonly whom = h('select', { name: 'whom', 'aria-label': 'For' });
  private people: readonly PhoneSummary[] = [];

  constructor(private readonly panel: HTMLElement) {
    const form = h(
      'form',
      {
        onsubmit: (event) => {
          event.preventDefault();
          attempt(() => this.begin());
        },
      },
      h('label', {}, 'What goes wrong', this.what),
      h('label', {}, 'For', this.whom),
      h('button', { type: 'submit', class: 'main', 'data-focus': SWITCH_ON }, 'Switch on'),
    );
    this.what.addEventListener('change', () => this.listPeople());
    panel.replaceChildren(form, this.list);
  }

  /** The phones that faults can be limited to. */
  setPeople(people: readonly PhoneSummary[]): void {
    this.people = people;
    this.listPeople();
  }

  async refresh(): Promise<void> {
    const faults = await call<Fault[]>('GET', 'faults');
    redraw(() => this.list.replaceChildren(...faults.map((fault) => this.item(fault))), SWITCH_ON);
  }

  /** Shows what happened to a fault. */
  notice({ what, fault, phone }: FaultEvent): void {
    const at = phone === undefined ? '' : ` at ${this.nameOf(phone)}`;
    if (what === 'struck') announce(`${faultLabel({ ...fault })}: it happened${at}.`);
    if (!this.panel.hidden) attempt(() => this.refresh());
  }

  private nameOf(phone: string): string {
    const name = this.people.find((person) => person.phone === phone)?.name;
    return name === undefined ? `+${phone}` : `${name} +${phone}`;
  }

  private get choice() {
    return FAULT_CHOICES[Number(this.what.value)] ?? FAULT_CHOICES[0];
  }

  private listPeople(): void {
    const whom = this.choice?.whom;
    const chosen = this.whom.value;
    const everybody = whom === 'one' ? [] : [h('option', { value: '' }, 'Everybody')];
    const people = whom === 'everybody' ? [] : this.people;
    this.whom.replaceChildren(
      ...everybody,
      ...people.map(({ phone }) => h('option', { value: phone, selected: phone === chosen }, this.nameOf(phone))),
    );
  }

  private async begin(): Promise<void> {
    const { choice } = this;
    if (!choice) return;
    const phone = this.whom.value;
    if (choice.whom === 'one' && phone === '') throw new Error('Make a phone first: this fault is for one phone.');
    const answer = await call<Record<string, unknown>>('POST', 'faults', {
      ...choice.request,
      ...(phone && { phone }),
    });
    announce(choice.done ? choice.done(answer) : `${choice.label}: on.`);
    await this.refresh();
  }

  private item(fault: Fault): HTMLElement {
    const whom = fault.phone === undefined ? 'everybody' : this.nameOf(fault.phone);
    const left = fault.count === undefined ? '' : `, ${fault.count} left`;
    const label = faultLabel({ ...fault });
    const end = () => attempt(() => call('DELETE', `faults/${fault.id}`).then(() => this.refresh()));
    return h(
      'li',
      {},
      `${label} (${whom}${left}) `,
      h('button', { type: 'button', 'data-focus': fault.id, 'aria-label': `End: ${label}`, onclick: end }, '×'),
    );
  }
}
