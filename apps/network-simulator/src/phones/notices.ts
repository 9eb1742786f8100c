import { child, children, textOf, type Node } from '../wire/node.js';
import { chatName } from './chat-name.js';
import type { PhoneContext } from './phone-context.js';

/** A notification reaches the phone: groups change, and pictures. */
export function receiveNotice(phone: PhoneContext, stanza: Node): void {
  const { type, from = '', participant = '', id = '' } = stanza.attrs;
  const at = new Date(phone.network.now()).toISOString();
  const what = child(stanza);
  if (!what) return;
  if (type === 'w:gp2') {
    if (what.tag === 'remove') phone.groupSessions.renew(from);
    phone.account.changed();
    phone.events.add({
      kind: 'group',
      what: what.tag,
      chat: from,
      from: chatName(phone.network, participant),
      at,
      id,
      details: describe(phone, what),
    });
  }
  if (type === 'picture') {
    phone.events.add({
      kind: 'picture',
      what: what.tag,
      chat: chatName(phone.network, from),
      from: chatName(phone.network, what.attrs['author'] ?? from),
      at,
    });
  }
}

function describe(phone: PhoneContext, what: Node): Record<string, string> {
  const people = [...children(what, 'participant'), ...children(what, 'requested_user')];
  const participants = people.map(({ attrs }) => chatName(phone.network, attrs['jid'] ?? ''));
  const body = textOf(child(what, 'body'));
  const subject = child(what, 'group')?.attrs['subject'];
  return {
    ...what.attrs,
    ...(subject !== undefined && { subject }),
    ...(participants.length > 0 && { participants: participants.join(',') }),
    ...(body !== undefined && { body }),
  };
}
