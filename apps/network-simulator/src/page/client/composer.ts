/// <reference lib="dom" />
import { base64Of, call, type Message } from './api.js';
import { attempt, field, h, showForm, textIn } from './dom.js';

/** What is being written in a chat. */
interface Draft {
  text: string;
  reply?: Message | undefined;
}

/** The field for messages of a phone. Each chat has a draft and a reply of its own; what could not be sent stays in the field. */
export class Composer {
  readonly element: HTMLElement;
  private readonly drafts = new Map<string, Draft>();
  private readonly input = h('textarea', {
    name: 'text',
    rows: 1,
    autocomplete: 'off',
    'aria-label': 'Message',
    placeholder: 'Message',
  });
  private readonly replyText = h('span', {});
  private readonly replyBar = h(
    'div',
    { class: 'reply', hidden: true },
    this.replyText,
    h('button', { type: 'button', 'aria-label': 'Do not reply', onclick: () => this.leaveReply() }, '×'),
  );
  private readonly problem = h('div', { class: 'problem', role: 'alert' });
  private chat: string | undefined;
  private composing = false;
  private sending = false;

  constructor(private readonly phone: string) {
    const file = h('input', { type: 'file', hidden: true, onchange: () => this.try(() => this.sendFile(file)) });
    const button = (label: string, text: string, job: () => void) =>
      h('button', { type: 'button', 'aria-label': label, onclick: job }, text);
    this.input.addEventListener('input', () => this.typed());
    this.input.addEventListener('keydown', (event) => this.key(event));
    this.element = h(
      'form',
      { class: 'composer', onsubmit: (event) => this.submit(event) },
      this.replyBar,
      this.problem,
      this.input,
      button('Send a file', 'File', () => file.click()),
      button('Send a poll', 'Poll', () => this.try(() => this.sendPoll())),
      h('button', { type: 'submit', class: 'main' }, 'Send'),
      file,
    );
  }

  focus(): void {
    this.input.focus();
  }

  /** Shows the draft of this chat. */
  open(chat: string): void {
    if (chat === this.chat) return;
    this.setComposing(false);
    this.chat = chat;
    this.problem.textContent = '';
    this.input.value = this.draft().text;
    this.drawReply();
  }

  /** What is sent next in the open chat replies to this message. */
  replyTo(message: Message): void {
    this.draft().reply = message;
    this.drawReply();
    this.focus();
  }

  private draft(): Draft {
    const chat = this.chat ?? '';
    const draft = this.drafts.get(chat) ?? { text: '' };
    this.drafts.set(chat, draft);
    return draft;
  }

  private drawReply(): void {
    const { reply } = this.draft();
    this.replyBar.hidden = reply === undefined;
    this.replyText.textContent = reply ? `Reply to: ${reply.text || reply.type}` : '';
  }

  private leaveReply(): void {
    this.draft().reply = undefined;
    this.drawReply();
    this.focus();
  }

  private typed(): void {
    this.draft().text = this.input.value;
    this.setComposing(this.input.value !== '');
  }

  private key(event: KeyboardEvent): void {
    if (event.key === 'Escape' && this.draft().reply) {
      event.preventDefault();
      this.leaveReply();
    }
    // While a character is being composed, Enter belongs to the input method.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    this.submit(event);
  }

  private setComposing(composing: boolean): void {
    const to = this.chat;
    if (to === undefined || composing === this.composing) return;
    this.composing = composing;
    const state = composing ? 'composing' : 'paused';
    attempt(() => call('POST', `phones/${this.phone}/typing`, { to, state }));
  }

  private submit(event: Event): void {
    event.preventDefault();
    this.try(() => this.send());
  }

  /** Runs something; what went wrong is shown at the field until something works. */
  private try(job: () => Promise<unknown>): void {
    const { chat } = this;
    const show = (problem: string): void => {
      if (chat === this.chat) this.problem.textContent = problem;
    };
    job().then(
      () => show(''),
      (error: unknown) => show(error instanceof Error ? error.message : String(error)),
    );
  }

  private async send(): Promise<void> {
    const to = this.target();
    const draft = this.draft();
    const { text, reply } = draft;
    if (text === '' || this.sending) return;
    this.sending = true;
    try {
      await this.sendDraft(to, { text, ...(reply && { quote: reply.id }) });
    } finally {
      this.sending = false;
    }
    // What was typed meanwhile is the next message.
    draft.text = draft.text === text ? '' : draft.text;
    draft.reply = undefined;
    if (this.draft() !== draft) return;
    this.input.value = draft.text;
    this.drawReply();
    this.setComposing(draft.text !== '');
  }

  private target(): string {
    if (this.chat === undefined) throw new Error('Open a chat first.');
    return this.chat;
  }

  private sendDraft(to: string, draft: object): Promise<unknown> {
    return call('POST', `phones/${this.phone}/messages`, { to, ...draft });
  }

  private async sendFile(input: HTMLInputElement): Promise<void> {
    const to = this.target();
    const [file] = input.files ?? [];
    if (!file) return;
    const [family] = file.type.split('/');
    const kind =
      family === 'image' ? 'image' : family === 'video' ? 'video' : family === 'audio' ? 'voice' : 'document';
    const mimetype = file.type || 'application/octet-stream';
    const sent = { base64: await base64Of(file), mimetype, fileName: file.name };
    input.value = '';
    await this.sendDraft(to, { [kind]: sent });
  }

  private async sendPoll(): Promise<void> {
    const to = this.target();
    const options = h('textarea', { name: 'options', required: true });
    const fields = [
      field('Question', 'name', { required: true }),
      h('label', {}, 'Options, one a line', options),
      h('label', { class: 'check' }, h('input', { type: 'checkbox', name: 'several' }), 'Several answers'),
    ];
    await showForm('A poll', fields, 'Send', (form) => {
      const lines = textIn(form, 'options').split('\n');
      const chosen = lines.map((line) => line.trim()).filter((line) => line !== '');
      const selectable = form.has('several') ? 0 : 1;
      return this.sendDraft(to, { poll: { name: textIn(form, 'name'), options: chosen, selectable } });
    });
  }
}
