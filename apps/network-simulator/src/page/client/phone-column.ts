/// <reference lib="dom" />
import { base64Of, call, type Chat, type Message, type PhoneDetails, type PhoneEvent } from './api.js';
import { bubble, isShown } from './bubble.js';
import { arrowKeys, showForm, attempt, avatar, field, h, redraw, announce, textIn } from './dom.js';
import { scan } from './scan.js';

const TYPING_SHOWN_MS = 6000;

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
  private readonly input = h('input', {
    type: 'text',
    name: 'text',
    autocomplete: 'off',
    'aria-label': 'Message',
    placeholder: 'Message',
  });
  private readonly stream: EventSource;
  private open: string | undefined;
  private quote: string | undefined;
  private composing = false;
  private typingTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly phone: string) {
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
        h('div', { class: 'chat' }, this.heading, this.bubbles, this.typing, this.composer()),
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
    this.element.remove();
  }

  private composer(): HTMLElement {
    this.input.addEventListener('input', () => this.type(this.input.value !== ''));
    const file = h('input', { type: 'file', hidden: true, onchange: () => attempt(() => this.sendFile(file)) });
    return h(
      'form',
      {
        class: 'composer',
        onsubmit: (event) => {
          event.preventDefault();
          attempt(() => this.send());
        },
      },
      this.input,
      h('button', { type: 'button', 'aria-label': 'Send a file', onclick: () => file.click() }, 'File'),
      h(
        'button',
        { type: 'button', 'aria-label': 'Send a poll', onclick: () => attempt(() => this.sendPoll()) },
        'Poll',
      ),
      h('button', { type: 'submit', class: 'main' }, 'Send'),
      file,
    );
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
    const chips = details.devices.map(({ device, online, platform }) =>
      h(
        'span',
        {},
        `Device ${device} (${platform}) ${online ? 'online' : 'away'} `,
        h(
          'button',
          {
            type: 'button',
            'aria-label': `Unlink device ${device}`,
            'data-focus': `${this.phone} device ${device}`,
            onclick: () => attempt(() => this.unlink(device)),
          },
          'Unlink',
        ),
      ),
    );
    const draw = (): void => this.devices.replaceChildren(...(chips.length > 0 ? chips : ['No linked devices']));
    redraw(draw, `${this.phone} Scan code`);
  }

  private async listChats(): Promise<void> {
    const chats = await call<Chat[]>('GET', `phones/${this.phone}/chats`);
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
    if (name !== undefined) this.heading.textContent = name;
    const messages = await call<Message[]>('GET', `phones/${this.phone}/messages?chat=${encodeURIComponent(chat)}`);
    const items = messages.filter(isShown).map((message) => this.bubbleOf(message));
    redraw(() => this.bubbles.replaceChildren(...items));
    this.bubbles.scrollTop = this.bubbles.scrollHeight;
    await call('POST', `phones/${this.phone}/read`, { chat });
    await this.listChats();
  }

  private bubbleOf(message: Message): HTMLLIElement {
    return bubble(this.phone, message, ({ id, text }) => {
      this.quote = id;
      this.input.placeholder = `Reply to: ${text}`;
      this.input.focus();
    });
  }

  private receive(message: Message): void {
    const arrived = message.chat === this.open && isShown(message);
    if (arrived) {
      const present = this.bubbles.querySelector(`[data-id="${CSS.escape(message.id)}"]`);
      if (message.erased) present?.remove();
      else if (present) redraw(() => present.replaceWith(this.bubbleOf(message)));
      else {
        this.bubbles.append(this.bubbleOf(message));
        this.bubbles.scrollTop = this.bubbles.scrollHeight;
        this.typing.textContent = '';
        if (!message.fromMe) attempt(() => call('POST', `phones/${this.phone}/read`, { chat: message.chat }));
      }
    }
    attempt(() => this.listChats());
  }

  private notice(event: PhoneEvent): void {
    if (event.kind === 'typing' && event.chat === this.open) {
      const doing = event.what === 'recording' ? 'is recording' : 'is typing';
      const who = event.from === event.chat ? this.heading.textContent : `+${event.from.split('@')[0]}`;
      this.typing.textContent = event.what === 'paused' ? '' : `${who} ${doing}…`;
      clearTimeout(this.typingTimer);
      this.typingTimer = setTimeout(() => (this.typing.textContent = ''), TYPING_SHOWN_MS);
    }
    if (event.kind === 'call') announce(`Call: ${event.what} from ${event.from.split('@')[0]}`);
    if (event.kind === 'group') attempt(() => this.listChats());
  }

  private type(composing: boolean): void {
    if (!this.open || composing === this.composing) return;
    this.composing = composing;
    const state = composing ? 'composing' : 'paused';
    attempt(() => call('POST', `phones/${this.phone}/typing`, { to: this.open, state }));
  }

  private async send(): Promise<void> {
    const text = this.input.value;
    if (!this.open) throw new Error('Open a chat first.');
    if (text === '') return;
    const quote = this.quote;
    this.input.value = '';
    this.input.placeholder = 'Message';
    this.quote = undefined;
    this.type(false);
    await call('POST', `phones/${this.phone}/messages`, { to: this.open, text, ...(quote !== undefined && { quote }) });
  }

  private async sendFile(input: HTMLInputElement): Promise<void> {
    const [file] = input.files ?? [];
    if (!file || !this.open) throw new Error('Open a chat first.');
    const [family] = file.type.split('/');
    const kind =
      family === 'image' ? 'image' : family === 'video' ? 'video' : family === 'audio' ? 'voice' : 'document';
    const sent = {
      base64: await base64Of(file),
      mimetype: file.type || 'application/octet-stream',
      fileName: file.name,
    };
    input.value = '';
    await call('POST', `phones/${this.phone}/messages`, { to: this.open, [kind]: sent });
  }

  private async sendPoll(): Promise<void> {
    const options = h('textarea', { name: 'options', required: true });
    const form = await showForm(
      'A poll',
      [field('Question', 'name', { required: true }), h('label', {}, 'Options, one a line', options)],
      'Send',
    );
    if (!form || !this.open) return;
    const lines = textIn(form, 'options')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    await call('POST', `phones/${this.phone}/messages`, {
      to: this.open,
      poll: { name: textIn(form, 'name'), options: lines },
    });
  }

  private async newChat(): Promise<void> {
    const form = await showForm('New chat', [field('Number', 'to', { required: true, inputmode: 'tel' })], 'Open');
    if (!form) return;
    const digits = textIn(form, 'to').replace(/\D/g, '');
    if (digits !== '') await this.show(`${digits}@s.whatsapp.net`, `+${digits}`);
    this.input.focus();
  }

  private async newGroup(): Promise<void> {
    const fields = [
      field('Subject', 'subject', { required: true }),
      field('Numbers, with spaces between', 'members', { required: true }),
    ];
    const form = await showForm('New group', fields, 'Create');
    if (!form) return;
    const members = textIn(form, 'members')
      .split(/[\s,]+/)
      .filter((number) => number !== '');
    const subject = textIn(form, 'subject');
    const group = await call<{ id: string }>('POST', `phones/${this.phone}/groups`, { subject, members });
    await this.show(group.id, subject);
  }

  private async unlink(device: number): Promise<void> {
    await call('DELETE', `phones/${this.phone}/devices/${device}`);
    await this.refresh();
  }
}
