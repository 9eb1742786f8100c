/// <reference lib="dom" />
import { call, type Message } from './api.js';
import { dayOf, timeOf } from './dates.js';
import { showForm, attempt, field, h, textIn } from './dom.js';

const TICKS: Record<string, string> = {
  pending: '○',
  sent: '✓',
  delivered: '✓✓',
  read: '✓✓',
  played: '✓✓',
  error: '!',
};
const QUICK = ['👍', '❤️', '😂', '🙏'];
/** Kinds that only change another message, whose effect is shown there, and those with nothing to show. */
const HIDDEN = new Set([
  ...['reaction', 'protocol', 'poll_vote', 'pin', 'keep', 'keys', 'call_key'],
  ...['event_answer', 'sealed_reaction', 'sealed_edit'],
]);

export const isShown = ({ type }: Message): boolean => !HIDDEN.has(type);

/** What a bubble needs of the chat that it is in. */
export interface BubbleChat {
  phone: string;
  reply: (message: Message) => void;
  find: (id: string) => Message | undefined;
}

const authorOf = (message: Message): string =>
  message.fromMe ? 'You' : (message.pushName ?? message.from.split('@')[0] ?? '');

/** The line above the first message of a day. */
export function dayLine(day: string): HTMLLIElement {
  return h('li', { class: 'day', 'data-day': day }, day);
}

/** One message as a bubble, with ticks, reactions and what can be done with it. */
export function bubble(message: Message, { phone, reply, find }: BubbleChat): HTMLLIElement {
  const atMs = message.timestamp * 1000;
  const when = new Date(atMs);
  const reactions = Object.values(message.reactions ?? {});
  const about = message.type === 'comment' ? message.target : message.quoted;
  return h(
    'li',
    { class: message.fromMe ? 'bubble own' : 'bubble', 'data-id': message.id, 'data-day': dayOf(atMs, Date.now()) },
    !message.fromMe && h('div', { class: 'quiet' }, authorOf(message)),
    message.forwarded && h('div', { class: 'quiet' }, 'Forwarded'),
    about !== undefined && quotation(message, find(about)),
    message.deleted ? h('em', {}, 'Deleted') : content(phone, message),
    reactions.length > 0 && h('div', { class: 'reactions' }, ...reactions.map((emoji) => h('span', {}, emoji))),
    h(
      'div',
      { class: 'foot' },
      message.edited && h('span', {}, 'edited'),
      h('time', { datetime: when.toISOString(), title: when.toLocaleString() }, timeOf(atMs)),
      message.fromMe && tick(message.status),
      h(
        'button',
        {
          type: 'button',
          class: 'act',
          'data-focus': `${phone} ${message.id}`,
          'aria-label': `Act on: ${message.text || message.type}`,
          onclick: () => attempt(() => act(phone, message, reply)),
        },
        '⋯',
      ),
    ),
  );
}

/** What a message replies to or comments on, in one line. */
function quotation(message: Message, quoted: Message | undefined): HTMLElement {
  const text = (quoted?.deleted ? 'Deleted' : quoted?.text || quoted?.type) ?? message.quotedText;
  return h('blockquote', {}, quoted && h('strong', {}, authorOf(quoted)), h('span', {}, text || 'An earlier message'));
}

function tick(status: string): HTMLElement {
  return h('span', { class: `tick ${status}`, role: 'img', 'aria-label': status, title: status }, TICKS[status] ?? '');
}

function content(phone: string, message: Message): HTMLElement {
  const source = `phones/${phone}/messages/${message.id}/file`;
  const caption = h('div', {}, message.text);
  switch (message.type) {
    case 'image':
    case 'sticker':
      return h('div', {}, h('img', { src: source, alt: message.text || message.type }), caption);
    case 'video':
    case 'video_note':
      return h('div', {}, h('video', { src: source, controls: true }), caption);
    case 'audio':
    case 'voice':
      return h('audio', { src: source, controls: true, 'aria-label': message.type });
    case 'document':
      return h('a', { href: source, download: message.file?.fileName ?? 'file' }, message.file?.fileName ?? 'File');
    case 'location':
      return h(
        'div',
        {},
        `${message.text || 'A place'} (${message.location?.latitude}, ${message.location?.longitude})`,
      );
    case 'contact':
    case 'contacts':
      return h('div', {}, `Contact: ${message.text}`);
    case 'poll':
      return poll(phone, message);
    case 'unknown':
      return h('em', { class: 'quiet' }, `This page does not draw ${message.content ?? 'such messages'}`);
    case 'text':
      return caption;
    default:
      return placeholder(message);
  }
}

/** A kind that is not drawn: its name, its words, and what it offers. */
function placeholder({ type, text, offer, answers }: Message): HTMLElement {
  const given = Object.values(answers ?? {});
  return h(
    'div',
    { class: 'placeholder' },
    h('div', { class: 'quiet' }, type.replaceAll('_', ' ')),
    offer?.header !== undefined && h('strong', {}, offer.header),
    text !== '' && h('div', {}, text),
    offer?.footer !== undefined && h('div', { class: 'quiet' }, offer.footer),
    ...(offer?.choices ?? []).map((choice) => h('div', { class: 'choice' }, choice)),
    given.length > 0 && h('div', { class: 'quiet' }, given.join(', ')),
  );
}

function poll(phone: string, message: Message): HTMLElement {
  const votes = Object.entries(message.votes ?? {});
  const own = votes.find(([voter]) => voter.split('@')[0] === phone)?.[1] ?? [];
  const options = (message.options ?? []).map((option) => {
    const count = votes.filter(([, chosen]) => chosen.includes(option)).length;
    const isChosen = own.includes(option);
    const others = message.selectable === 1 ? [] : own.filter((chosen) => chosen !== option);
    const chosen = isChosen ? others : [...others, option];
    const vote = () =>
      attempt(() =>
        call('POST', `phones/${phone}/messages`, { to: message.chat, vote: { id: message.id, options: chosen } }),
      );
    const focus = `${phone} ${message.id} ${option}`;
    const properties = { type: 'button', 'aria-pressed': String(isChosen), 'data-focus': focus, onclick: vote };
    return h('button', properties, `${option} · ${count}`);
  });
  const rule = message.selectable === 1 ? 'Choose one' : 'Choose one or more';
  return h('div', { class: 'poll' }, h('strong', {}, message.text), h('span', { class: 'quiet' }, rule), ...options);
}

/** What can be done with a message: react, reply, edit, delete. Each is one button. */
async function act(phone: string, message: Message, reply: (message: Message) => void): Promise<void> {
  const button = (value: string, label: string) => h('button', { type: 'submit', name: 'what', value }, label);
  const emojis = QUICK.map((emoji, index) =>
    h(
      'button',
      { type: 'submit', name: 'what', value: `react ${emoji}`, 'aria-label': `React ${emoji}`, autofocus: index === 0 },
      emoji,
    ),
  );
  const isText = message.fromMe && message.type === 'text' && !message.deleted;
  const form = await showForm(message.text || message.type, [
    // First, so that Enter in the field edits.
    ...(isText
      ? [h('div', { class: 'row edit' }, field('New text', 'text', { value: message.text }), button('edit', 'Edit'))]
      : []),
    h('div', { class: 'row start' }, ...emojis, button('react ', 'No reaction')),
    h(
      'div',
      { class: 'row start' },
      button('reply', 'Reply'),
      button('erase', 'Delete for me'),
      message.fromMe && button('delete', 'Delete for everybody'),
    ),
  ]);
  if (!form) return;
  const what = textIn(form, 'what');
  const send = (body: object) => call('POST', `phones/${phone}/messages`, { to: message.chat, ...body });
  if (what === 'reply') reply(message);
  else if (what.startsWith('react')) await send({ reaction: { id: message.id, emoji: what.slice(6) } });
  else if (what === 'edit') await send({ edit: { id: message.id, text: textIn(form, 'text') } });
  else if (what === 'erase')
    await call('POST', `phones/${phone}/chats`, { chat: message.chat, deleteForMe: message.id });
  else if (what === 'delete') await send({ delete: { id: message.id } });
}
