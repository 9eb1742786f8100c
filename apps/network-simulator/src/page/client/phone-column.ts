/// <reference lib="dom" />
import { call, type Chat, type Message, type PhoneDetails, type PhoneEvent, type PhoneSummary } from './api.js';
import { bubble, dayLine, isShown } from './bubble.js';
import { Composer } from './composer.js';
import { deviceChip } from './device-chip.js';
import { arrowKeys, showForm, attempt, avatar, field, h, redraw, announce, textIn, textsIn } from './dom.js';
import { numberIn, numbersIn } from './numbers.js';
import { remember, remembered } from './remembered.js';
import { scan } from './scan.js';

const TYPING_SHOWN_MS = 6000;
/** People offered by name for a new group, where the network has no more of them. */
const OFFERED_MEMBERS = 12;

/** One phone: its linked devices, its chats, and the open one. It follows the phone's stream. */
export class PhoneColumn {
  readonly element: HTMLElement;
  private readonly title = h('h2', {});
  private readonly devices = h('div', { class: 'devices', 'aria-label': 'Linked devices' });
  private readonly chatList = h('ul', { class: 'chats', 'aria-label': 'Chats' });
  private readonly heading = h('h3', {}, 'No chat open');
  private readonly bubbles = h('ol', {
    class: 'bubbles',
    'aria-live': 'polite',
    'aria-label': 'Messages',
  });
  private readonly typing = h('div', { class: 'typing', 'aria-live': 'polite' });
  private readonly composer: Composer;
  private readonly stream: EventSource;
  private readonly messages = new Map<string, Message>();
  private open: string | undefined;
  private typingTimer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param people who is on the network, by number
   * @param trace shows the stanzas of a device
   */
  constructor(
    readonly phone: string,
    private readonly people: ReadonlyMap<string, PhoneSummary>,
    private readonly trace: (device: number) => void,
  ) {
    this.composer = new Composer(phone);
    const opened = remembered(this.openName);
    if (typeof opened === 'string') this.open = opened;
    const button = (label: string, job: () => Promise<unknown>) =>
      h('button', { type: 'button', 'data-focus': `${phone} ${label}`, onclick: () => attempt(job) }, label);
    arrowKeys(this.chatList, 'button');
    arrowKeys(this.bubbles, '.act');
    // A picture that has come makes the list longer.
    this.bubbles.addEventListener('load', () => (this.bubbles.scrollTop = this.bubbles.scrollHeight), true);
    this.element = h(
      'section',
      { class: 'phone', 'aria-label': `Phone ${phone}`, 'data-phone': phone },
      h(
        'header',
        {},
        this.title,
        button('Scan code', () => scan(this.phone).then(() => this.refresh())),
        button('New chat', () => this.newChat()),
        button('New group', () => this.newGroup()),
      ),
      this.devices,
      h(
        'div',
        { class: 'body' },
        this.chatList,
        h('div', { class: 'chat' }, this.heading, this.bubbles, this.typing, this.composer.element),
      ),
    );
    this.stream = new EventSource(`phones/${phone}/stream`);
    this.stream.addEventListener('ready', () => attempt(() => this.refresh()));
    this.stream.addEventListener('devices', () => attempt(() => this.listDevices()));
    this.stream.addEventListener('message', (event: MessageEvent<string>) =>
      this.receive(JSON.parse(event.data) as Message),
    );
    this.stream.addEventListener('event', (event: MessageEvent<string>) =>
      this.notice(JSON.parse(event.data) as PhoneEvent),
    );
  }

  close(): void {
    this.stream.close();
    clearTimeout(this.typingTimer);
    this.element.remove();
  }

  private get openName(): string {
    return `open chat of ${this.phone}`;
  }

  /** Reads everything anew. */
  async refresh(): Promise<void> {
    await this.listDevices();
    await this.listChats();
    if (this.open) await this.show(this.open);
  }

  private async listDevices(): Promise<void> {
    const details = await call<PhoneDetails>('GET', `phones/${this.phone}`);
    this.title.replaceChildren(
      avatar(details.name),
      details.name,
      ' ',
      h('span', { class: 'number' }, `+${this.phone}`),
    );
    const chips = details.devices.map((linked) =>
      deviceChip(this.phone, linked, {
        trace: () => this.trace(linked.device),
        unlink: () => this.unlink(linked.device),
      }),
    );
    const draw = (): void => this.devices.replaceChildren(...(chips.length > 0 ? chips : ['No linked devices']));
    redraw(draw, `${this.phone} Scan code`);
  }

  private async listChats(): Promise<void> {
    const chats = await call<Chat[]>('GET', `phones/${this.phone}/chats`);
    const opened = chats.find(({ chat }) => chat === this.open);
    if (opened) this.heading.textContent = opened.name;
    const items = chats.map(({ chat, name, unread }) =>
      h(
        'li',
        {},
        h(
          'button',
          {
            type: 'button',
            'aria-current': chat === this.open ? 'true' : undefined,
            'data-chat': chat,
            'data-focus': `${this.phone} ${chat}`,
            onclick: () => attempt(() => this.show(chat, name)),
          },
          avatar(name),
          h('span', { class: 'name' }, name),
          unread > 0 && h('span', { class: 'unread', 'aria-label': `${unread} unread` }, String(unread)),
        ),
      ),
    );
    redraw(() => this.chatList.replaceChildren(...items));
  }

  /** Opens a chat: reads it, and the senders see that. */
  private async show(chat: string, name?: string): Promise<void> {
    this.open = chat;
    remember(this.openName, chat);
    if (name !== undefined) this.heading.textContent = name;
    else if (this.heading.textContent === '') this.heading.textContent = this.nameOf(chat);
    this.composer.open(chat);
    const messages = await call<Message[]>('GET', `phones/${this.phone}/messages?chat=${encodeURIComponent(chat)}`);
    this.messages.clear();
    for (const message of messages) this.messages.set(message.id, message);
    const items = messages.filter(isShown).map((message) => this.bubbleOf(message));
    redraw(() => {
      this.bubbles.replaceChildren();
      for (const item of items) this.append(item);
    });
    this.bubbles.scrollTop = this.bubbles.scrollHeight;
    await call('POST', `phones/${this.phone}/read`, { chat });
    await this.listChats();
  }

  /** Adds a bubble at the end, under a line for its day where that is another than the last one's. */
  private append(item: HTMLLIElement): void {
    const { day } = item.dataset;
    const last = this.bubbles.lastElementChild;
    if (day !== undefined && !(last instanceof HTMLElement && last.dataset['day'] === day))
      this.bubbles.append(dayLine(day));
    this.bubbles.append(item);
  }

  private bubbleOf(message: Message): HTMLLIElement {
    return bubble(message, {
      phone: this.phone,
      reply: (repliedTo) => this.composer.replyTo(repliedTo),
      find: (id) => this.messages.get(id),
    });
  }

  private receive(message: Message): void {
    if (message.chat === this.open) this.messages.set(message.id, message);
    const arrived = message.chat === this.open && isShown(message);
    if (arrived) {
      const present = this.bubbles.querySelector(`[data-id="${CSS.escape(message.id)}"]`);
      if (message.erased) present?.remove();
      else if (present) redraw(() => present.replaceWith(this.bubbleOf(message)));
      else {
        this.append(this.bubbleOf(message));
        this.bubbles.scrollTop = this.bubbles.scrollHeight;
        this.typing.textContent = '';
        if (!message.fromMe) attempt(() => call('POST', `phones/${this.phone}/read`, { chat: message.chat }));
      }
    }
    attempt(() => this.listChats());
  }

  /** The name of a person or a group, or the number. */
  private nameOf(jid: string): string {
    const [user = ''] = jid.split('@');
    return this.people.get(user)?.name ?? `+${user}`;
  }

  private notice(event: PhoneEvent): void {
    if (event.kind === 'typing' && event.chat === this.open) {
      const doing = event.what === 'recording' ? 'is recording' : 'is typing';
      const who = event.from === event.chat ? this.heading.textContent : this.nameOf(event.from);
      this.typing.textContent = event.what === 'paused' ? '' : `${who} ${doing}…`;
      clearTimeout(this.typingTimer);
      this.typingTimer = setTimeout(() => (this.typing.textContent = ''), TYPING_SHOWN_MS);
    }
    if (event.kind === 'call') announce(`Call: ${event.what} from ${this.nameOf(event.from)}`);
    if (event.kind === 'group') attempt(() => this.listChats());
  }

  private async newChat(): Promise<void> {
    const fields = [field('Number', 'to', { required: true, inputmode: 'tel' })];
    let number = '';
    const form = await showForm('New chat', fields, 'Open', async (sent) => {
      number = numberIn(textIn(sent, 'to'));
      await this.requireOnNetwork([number]);
    });
    if (!form) return;
    // Opened once the dialog is closed: while it is there nothing else can have the focus.
    await this.show(`${number}@s.whatsapp.net`, `+${number}`);
    this.composer.focus();
  }

  private async newGroup(): Promise<void> {
    const others = [...this.people.values()].filter(({ phone }) => phone !== this.phone);
    const offered = others.length > OFFERED_MEMBERS ? [] : others;
    const fields = [
      field('Subject', 'subject', { required: true }),
      field('Numbers of members', 'members', { placeholder: '+65 9000 0001, +65 9000 0002', inputmode: 'tel' }),
      ...offered.map(({ phone, name }) =>
        h(
          'label',
          { class: 'check' },
          h('input', { type: 'checkbox', name: 'member', value: phone }),
          `${name} +${phone}`,
        ),
      ),
    ];
    let [id, subject] = ['', ''];
    await showForm('New group', fields, 'Create', async (form) => {
      const members = numbersIn([textIn(form, 'members'), ...textsIn(form, 'member')].join(','));
      if (members.length === 0) throw new Error('Choose at least one member, or type a number.');
      await this.requireOnNetwork(members);
      subject = textIn(form, 'subject');
      ({ id } = await call<{ id: string }>('POST', `phones/${this.phone}/groups`, { subject, members }));
    });
    if (id !== '') await this.show(id, subject);
  }

  /** Refuses numbers that nobody on the network has, before anything is made with them. */
  private async requireOnNetwork(numbers: readonly string[]): Promise<void> {
    const contacts = await Promise.all(
      numbers.map(async (number) => ({
        number,
        exists: (await call<{ exists: boolean }>('GET', `numbers/${number}`)).exists,
      })),
    );
    const unknown = contacts.filter(({ exists }) => !exists).map(({ number }) => `+${number}`);
    if (unknown.length > 0) throw new Error(`Nobody on this network has the number ${unknown.join(', ')}.`);
  }

  private async unlink(device: number): Promise<void> {
    await call('DELETE', `phones/${this.phone}/devices/${device}`);
    await this.refresh();
  }
}
