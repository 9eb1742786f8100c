import { downloadMediaMessage, type AnyMessageContent, type WAMessage } from '@whiskeysockets/baileys';
import { randomBytes } from 'node:crypto';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { Client } from './client.js';
import { mediaThrough } from './loopback-media.js';

jest.setTimeout(120_000);
quietLibsignal();

/** Two clients and nothing else: what one does, the other sees. The network only scans their codes. */
describe('two clients of the library', () => {
  let simulator: Simulator;
  let a: Client;
  let b: Client;
  let media: ReturnType<typeof mediaThrough>;

  /** As Baileys' own suite scans: the text of the code without a content type. */
  const scanner = async (qr: string, headers: Record<string, string> = {}) => {
    const body = Buffer.from(qr);
    const response = await fetch(`${simulator.control}/admin/mock-phone/scan-qr`, { method: 'POST', headers, body });
    if (response.status !== 200) throw new Error(`The scan was answered with ${response.status}.`);
  };
  const pn = (client: Client): string => client.jid.replace(/:\d+/, '');
  const lid = (client: Client): string => client.auth.creds.me?.lid?.replace(/:\d+/, '') ?? '';
  const pass = async (
    content: AnyMessageContent,
    to = pn(b),
    options = {},
  ): Promise<{ sent: WAMessage; got: WAMessage }> => {
    const sent = await a.send(to, content, options);
    const got = await b.message(({ key, message }) => key.id === sent.key.id && Boolean(message), 'the message');
    return { sent, got };
  };
  const open = (message: WAMessage): Promise<Buffer> =>
    downloadMediaMessage(message, 'buffer', { options: media.options } as never);

  beforeAll(async () => {
    simulator = await startSimulator();
    media = mediaThrough(simulator);
    a = new Client(simulator, { ...media, pushName: 'Ann of the suite' });
    b = new Client(simulator, media);
    await a.link(scanner);
    await b.link((qr) => scanner(qr, { 'content-type': 'application/x-www-form-urlencoded' }));
  });

  afterAll(async () => {
    await a.end();
    await b.end();
    await simulator.stop();
  });

  it('the name that a scanned client brings is the name of its phone', async () => {
    const { got } = await pass({ text: 'who I am' });
    expect(got.pushName).toBe('Ann of the suite');
  });

  it('texts, edits, reactions, deletions and forwards', async () => {
    const { sent, got } = await pass({ text: 'hello' });
    expect(got.key).toMatchObject({ remoteJid: pn(a), fromMe: false });
    await a.send(pn(b), { text: 'hello, edited', edit: sent.key });
    await b.until(
      () => b.updates.some(({ key, update }) => key.id === sent.key.id && update.message?.editedMessage),
      'the edit',
    );
    await b.send(pn(a), { react: { text: '👍', key: got.key } });
    const reacted = (text: string) =>
      a.until(
        () =>
          a
            .eventsOf('messages.reaction')
            .flat()
            .some(({ key, reaction }) => key.id === sent.key.id && (reaction.text ?? '') === text),
        text || 'taking it back',
      );
    await reacted('👍');
    await b.send(pn(a), { react: { text: '', key: got.key } });
    await reacted('');
    await pass({ forward: got });
    await a.send(pn(b), { delete: sent.key });
    await b.until(
      () => b.updates.some(({ key, update }) => key.id === sent.key.id && Number(update.messageStubType) === 1),
      'the deletion',
    );
  });

  it('texts both ways, by number and by private id', async () => {
    await pass({ text: 'by private id' }, lid(b));
    await b.send(lid(a), { text: 'and back' });
    await a.text('and back');
    await b.send(pn(a), { text: 'by number' });
    await a.text('by number');
  });

  it.each<[string, () => AnyMessageContent]>([
    ['image', () => ({ image: randomBytes(4000) })],
    ['video', () => ({ video: randomBytes(4000) })],
    ['voice', () => ({ audio: randomBytes(4000), ptt: true, mimetype: 'audio/ogg; codecs=opus' })],
    ['document', () => ({ document: randomBytes(4000), mimetype: 'application/pdf', fileName: 'a.pdf' })],
    ['sticker', () => ({ sticker: randomBytes(4000) })],
  ])('a %s, opened by both and out of a quotation', async (_kind, make) => {
    const content = make();
    const original = Object.values(content).find((value) => Buffer.isBuffer(value)) as Buffer;
    const { sent, got } = await pass(content, lid(b));
    expect((await open(got)).equals(original)).toBe(true);
    expect((await open(sent)).equals(original)).toBe(true);
    const answer = await b.send(lid(a), { text: 'look at this' }, { quoted: got });
    const quoting = await a.message(({ key, message }) => key.id === answer.key.id && Boolean(message), 'the answer');
    const quoted = quoting.message?.extendedTextMessage?.contextInfo?.quotedMessage;
    expect((await open({ key: got.key, message: quoted } as WAMessage)).equals(original)).toBe(true);
  });

  it('a poll and a contact', async () => {
    const poll = await pass({ poll: { name: 'Lunch?', values: ['Rice', 'Noodles'] } });
    const made = poll.got.message?.pollCreationMessageV3 ?? poll.got.message?.pollCreationMessage;
    expect(made?.options?.map(({ optionName }) => optionName)).toEqual(['Rice', 'Noodles']);
    const vcard = 'BEGIN:VCARD\nVERSION:3.0\nFN:Dave\nEND:VCARD';
    const contact = await pass({ contacts: { displayName: 'Dave', contacts: [{ vcard }] } });
    expect(contact.got.message?.contactMessage?.vcard).toBe(vcard);
  });

  it('the push name reaches the other', async () => {
    await a.socket.updateProfileName('A. Tester');
    const { got } = await pass({ text: 'under a new name' });
    expect(got.pushName).toBe('A. Tester');
  });

  it('a group: made, written in by both, with a file, and changed', async () => {
    const { id } = await a.socket.groupCreate('Two of us', [pn(b)]);
    await b.until(
      () =>
        b
          .eventsOf('groups.upsert')
          .flat()
          .some((group) => group.id === id),
      'the group',
    );
    await pass({ text: 'in the group' }, id);
    await b.send(id, { text: 'from the other' });
    await a.text('from the other');
    const bytes = randomBytes(3000);
    const file = await pass({ image: bytes }, id);
    expect((await open(file.got)).equals(bytes)).toBe(true);
    const changed = (action: string) =>
      b.until(
        () => b.eventsOf('group-participants.update').some((update) => update.id === id && update.action === action),
        action,
      );
    await a.socket.groupParticipantsUpdate(id, [pn(b)], 'promote');
    await changed('promote');
    await a.socket.groupParticipantsUpdate(id, [pn(b)], 'demote');
    await changed('demote');
    await a.socket.groupParticipantsUpdate(id, [pn(b)], 'remove');
    await changed('remove');
    const groupsBefore = b.eventsOf('groups.upsert').length;
    await a.socket.groupParticipantsUpdate(id, [pn(b)], 'add');
    await b.until(
      () =>
        b
          .eventsOf('groups.upsert')
          .slice(groupsBefore)
          .flat()
          .some((group) => group.id === id),
      'the group, again',
    );
    expect((await b.socket.groupMetadata(id)).participants.length).toBe(2);
  });
});
