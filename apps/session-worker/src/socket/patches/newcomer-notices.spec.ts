import { EventEmitter } from 'node:events';
import { proto, type BinaryNode, type WAMessage, type WASocket } from '@whiskeysockets/baileys';
import { testEventBuffer } from '../test-network.js';
import { distinguishNewcomerNotices } from './newcomer-notices.js';

const { GROUP_CREATE, GROUP_PARTICIPANT_ADD, GROUP_PARTICIPANT_INVITE } = proto.WebMessageInfo.StubType;
const OWN = '15550009999@s.whatsapp.net';
const OWNER = '900000000001@lid';
const ADMIN = '900000000002@lid';

/** What is emitted of the message that the library makes of a notice. */
function emitted(create: BinaryNode['attrs'], actor = ADMIN): WAMessage | undefined {
  const ws: unknown = new EventEmitter();
  const socket = {
    ws: ws as WASocket['ws'],
    ev: testEventBuffer(),
    authState: { creds: { me: { id: '15550009999:7@s.whatsapp.net' } } },
  };
  distinguishNewcomerNotices(socket);
  const messages: WAMessage[] = [];
  socket.ev.on('messages.upsert', (upsert) => messages.push(...upsert.messages));
  const remoteJid = '120363000000000001@g.us';
  const attrs = {
    id: 'N1',
    type: 'w:gp2',
    from: remoteJid,
    participant: actor,
    participant_pn: '15550002222@s.whatsapp.net',
  };
  const content = [{ tag: 'create', attrs: create, content: [{ tag: 'group', attrs: { id: '120363000000000001' } }] }];
  socket.ws.emit('CB:notification', { tag: 'notification', attrs, content });
  const made: WAMessage = {
    key: { remoteJid, fromMe: false, id: 'N1', participant: OWNER },
    messageStubType: GROUP_CREATE,
    messageStubParameters: ['A group'],
  };
  socket.ev.emit('messages.upsert', { messages: [made], type: 'append' });
  return messages[0];
}

describe('the notice of a group that the channel came into', () => {
  it('is that it was added, by who added it, when the group is not new', () => {
    expect(emitted({})).toMatchObject({
      messageStubType: GROUP_PARTICIPANT_ADD,
      messageStubParameters: [OWN],
      key: { id: 'N1', participant: ADMIN, participantAlt: '15550002222@s.whatsapp.net' },
    });
  });

  it('is that it was added by the owner, too, when the owner did that later', () => {
    expect(emitted({}, OWNER)).toMatchObject({ messageStubType: GROUP_PARTICIPANT_ADD, messageStubParameters: [OWN] });
  });

  it('is that it joined, when it came by the link', () => {
    expect(emitted({ reason: 'invite' })).toMatchObject({
      messageStubType: GROUP_PARTICIPANT_INVITE,
      messageStubParameters: [OWN],
    });
  });

  it('stays what it is when the group is new', () => {
    expect(emitted({ type: 'new', key: '1' })).toMatchObject({
      messageStubType: GROUP_CREATE,
      messageStubParameters: ['A group'],
      key: { participant: OWNER },
    });
  });
});
