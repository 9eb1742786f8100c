/** For specs: messages of a person, of a group's member, and of the channel itself. */
import type { Message } from '@dormouse/gateway-contract';
import type { MessageRecord } from './records.js';

export const ADA = '15550001111@s.whatsapp.net';
export const GROUP = '120363000000000001@g.us';

function record(keyId: string, fields: Partial<Message>, defaults: Message): MessageRecord & { keyAliases?: string[] } {
  const message = Object.fromEntries(
    Object.entries({ ...defaults, id: `id-${keyId}`, ...fields }).filter(([, value]) => value !== undefined),
  ) as Message;
  return { message, key: { id: keyId, remote: message.chat_id } };
}

export function incoming(keyId: string, fields: Partial<Message> = {}) {
  return record(keyId, fields, {
    id: '',
    from_me: false,
    type: 'text',
    chat_id: ADA,
    timestamp: 100,
    source: 'mobile',
    text: { body: 'Hello' },
    from: '15550001111',
    from_name: 'Ada Example',
  });
}

export function own(keyId: string, fields: Partial<Message> = {}) {
  return record(keyId, fields, {
    id: '',
    from_me: true,
    type: 'text',
    chat_id: ADA,
    timestamp: 100,
    source: 'api',
    device_id: 7,
    status: 'pending',
    text: { body: 'Hi' },
    from: '15550009999',
  });
}
