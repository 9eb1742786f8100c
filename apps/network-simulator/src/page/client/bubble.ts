/// <reference lib="dom" />
import { call, type Message } from './api.js';
import { ask, attempt, field, h, textIn } from './dom.js';

const TICKS: Record<string, string> = {
  pending: '○',
  sent: '✓',
  delivered: '✓✓',
  read: '✓✓',
  played: '✓✓',
  error: '!',
};
const QUICK = ['👍', '❤️', '😂', '🙏'];
/** Kinds that only change another message: their effect is shown there. */
const HIDDEN = new Set(['reaction', 'protocol', 'poll_vote', 'unknown']);

export const isShown = ({ type }: Message): boolean => !HIDDEN.has(type);

/** One message as a bubble, with ticks, reactions and what can be done with it. */
export function bubble(phone: string, message: Message, reply: (message: Message) => void): HTMLLIElement {
  const who = message.fromMe ? 'You' : (message.pushName ?? message.from.split('@')[0] ?? '');
  const time = new Date(message.timestamp * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return h(
    'li',
    { class: message.fromMe ? 'bubble own' : 'bubble', 'data-id': message.id },
    !message.fromMe && h('div', { class: 'quiet' }, who),
    message.forwarded && h('div', { class: 'quiet' }, 'Forwarded'),
    message.quoted !== undefined && h('div', { class: 'quiet' }, 'In reply to an earlier message'),
    message.deleted ? h('em', {}, 'Deleted') : content(phone, message),
    h(
      'div',
      { class: 'foot' },
      ...Object.values(message.reactions ?? {}).map((emoji) => h('span', { class: 'reaction' }, emoji)),
      message.edited && h('span', {}, 'edited'),
      h('time', {}, time),
      message.fromMe && tick(message.status),
      h(
        'button',
        {
          type: 'button',
          'aria-label': `Act on: ${message.text || message.type}`,
          onclick: () => attempt(() => act(phone, message, reply)),
        },
        '⋯',
      ),
    ),
  );
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
    default:
      return caption;
  }
}

function poll(phone: string, message: Message): HTMLElement {
  const votes = Object.values(message.votes ?? {});
  const options = (message.options ?? []).map((option) => {
    const count = votes.filter((chosen) => chosen.includes(option)).length;
    const vote = () =>
      attempt(() =>
        call('POST', `phones/${phone}/messages`, { to: message.chat, vote: { id: message.id, options: [option] } }),
      );
    return h('button', { type: 'button', onclick: vote }, `${option} · ${count}`);
  });
  return h('div', { class: 'poll' }, h('strong', {}, message.text), ...options);
}

/** What can be done with a message: reply, react, edit, delete. */
async function act(phone: string, message: Message, reply: (message: Message) => void): Promise<void> {
  const options = ['Reply', ...QUICK.map((emoji) => `React ${emoji}`), 'Remove reaction'];
  if (message.fromMe) options.push('Edit', 'Delete for everybody');
  const select = h('select', { name: 'what' }, ...options.map((option) => h('option', {}, option)));
  const form = await ask(
    'Act on this message',
    [h('label', {}, 'What', select), field('New text, when editing', 'text', { value: message.text })],
    'Do it',
  );
  const what = textIn(form, 'what');
  const to = message.chat;
  const send = (body: object) => call('POST', `phones/${phone}/messages`, { to, ...body });
  if (what === 'Reply') reply(message);
  if (what.startsWith('React')) await send({ reaction: { id: message.id, emoji: what.slice(6) } });
  if (what === 'Remove reaction') await send({ reaction: { id: message.id, emoji: '' } });
  if (what === 'Edit') await send({ edit: { id: message.id, text: textIn(form, 'text') } });
  if (what === 'Delete for everybody') await send({ delete: { id: message.id } });
}
