import { decryptPollVote, downloadMediaMessage, type AnyMessageContent, type WAMessage } from '@whiskeysockets/baileys';
import { createHash, randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { createGroup } from '../groups/group-members.js';
import { scanCode } from '../linking/pairing.js';
import { attachmentOf, download } from '../phones/attachments.js';
import type { Draft } from '../phones/compose.js';
import { decodeContent } from '../phones/content.js';
import type { PhoneMessage } from '../phones/message-log.js';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { Client } from './client.js';
import { mediaThrough } from './loopback-media.js';

jest.setTimeout(120_000);
quietLibsignal();

const BOB = '6591110002@s.whatsapp.net';
const DELETE_HOURS = 2;

describe('every kind of message', () => {
  let simulator: Simulator;
  let alice: Phone;
  let bob: Phone;
  let client: Client;
  let media: ReturnType<typeof mediaThrough>;
  let jpeg: Buffer;

  beforeAll(async () => {
    simulator = await startSimulator({ windows: { deleteSeconds: DELETE_HOURS * 3600 } });
    media = mediaThrough(simulator);
    const { network, phones } = simulator;
    alice = phones.of(network.accounts.add('6591110001', 'Alice'));
    bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    client = new Client(simulator, media);
    await client.link((qr) => scanCode(network, alice.account, qr));
    jpeg = await sharp({ create: { width: 40, height: 30, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
  }, 120_000);

  afterAll(async () => {
    await client.end();
    await simulator.stop();
  });

  const toPhone = async (content: AnyMessageContent, options = {}, to = BOB): Promise<PhoneMessage> => {
    const sent = await client.send(to, content, options);
    const got = await bob.wait({ id: sent.key.id ?? '' }, 8000);
    if (!got) throw new Error('nothing came');
    return got;
  };
  const toClient = async (draft: Draft, to = alice.account.phone): Promise<WAMessage> => {
    const sent = await bob.sendDraft(to, draft);
    return client.message(({ key, message }) => key.id === sent.id && Boolean(message), sent.id);
  };

  it.each<[string, () => AnyMessageContent, string]>([
    ['image', () => ({ image: jpeg, caption: 'look' }), 'image'],
    ['video', () => ({ video: randomBytes(5000), caption: 'watch' }), 'video'],
    ['audio', () => ({ audio: randomBytes(3000), mimetype: 'audio/mpeg' }), 'audio'],
    ['voice', () => ({ audio: randomBytes(3000), ptt: true, mimetype: 'audio/ogg; codecs=opus' }), 'voice'],
    [
      'document',
      () => ({ document: randomBytes(100_000), mimetype: 'application/pdf', fileName: 'a.pdf' }),
      'document',
    ],
    ['sticker', () => ({ sticker: randomBytes(2000) }), 'sticker'],
  ])('a client sends a %s, the phone opens the file', async (_name, content, type) => {
    const given = content();
    const got = await toPhone(given);
    expect(got.type).toBe(type);
    const original = Object.values(given).find((value) => Buffer.isBuffer(value)) as Buffer;
    expect((await download(simulator.network, got)).bytes.equals(original)).toBe(true);
    // The file host has it as it was uploaded: encrypted.
    const { directPath = '' } = attachmentOf(decodeContent(got.content))?.attachment ?? {};
    const kept = await simulator.network.media.get(directPath ?? '');
    if (typeof kept === 'number') throw new Error('The host does not have the file.');
    expect(kept.length).toBeGreaterThan(original.length);
    expect(kept.includes(original.subarray(0, 32))).toBe(false);
  });

  it.each<[string, (file: { bytes: Buffer }) => Draft]>([
    ['image', (image) => ({ image, caption: 'look' })],
    ['video', (video) => ({ video })],
    ['voice', (voice) => ({ voice })],
    ['document', (document) => ({ document: { ...document, fileName: 'b.txt', mimetype: 'text/plain' } })],
    ['sticker', (sticker) => ({ sticker })],
  ])('a phone sends a %s, the client opens the file', async (_name, draft) => {
    const bytes = randomBytes(50_000);
    const got = await toClient(draft({ bytes }));
    const opened = await downloadMediaMessage(got, 'buffer', { options: media.options } as never);
    expect(opened.equals(bytes)).toBe(true);
  });

  it('opens a file again after it expired and the phone uploaded it anew', async () => {
    const bytes = randomBytes(20_000);
    const got = await toClient({ image: { bytes } });
    simulator.network.media.expire(undefined, 410);
    await expect(downloadMediaMessage(got, 'buffer', { options: media.options } as never)).rejects.toBeDefined();
    const renewed = await client.socket.updateMediaMessage(got);
    const opened = await downloadMediaMessage(renewed, 'buffer', { options: media.options } as never);
    expect(opened.equals(bytes)).toBe(true);
  });

  it('places, contacts and previews arrive both ways', async () => {
    expect(await toPhone({ location: { degreesLatitude: 1.3, degreesLongitude: 103.8, name: 'Here' } })).toMatchObject({
      type: 'location',
      text: 'Here',
    });
    const vcard = 'BEGIN:VCARD\nVERSION:3.0\nFN:Dave\nEND:VCARD';
    expect(await toPhone({ contacts: { displayName: 'Dave', contacts: [{ vcard }] } })).toMatchObject({
      type: 'contact',
      text: 'Dave',
    });
    const place = await toClient({ location: { latitude: 1, longitude: 2, name: 'There' } });
    expect(place.message?.locationMessage).toMatchObject({ degreesLatitude: 1, degreesLongitude: 2, name: 'There' });
    const card = await toClient({ contact: { name: 'Eve', phone: '6591110009' } });
    expect(card.message?.contactMessage?.vcard).toContain('waid=6591110009');
    const preview = await toClient({
      text: 'see https://example.org',
      preview: { url: 'https://example.org', title: 'Example' },
    });
    expect(preview.message?.extendedTextMessage).toMatchObject({
      matchedText: 'https://example.org',
      title: 'Example',
    });
  });

  it('reactions come and go', async () => {
    const target = await toPhone({ text: 'react to this' });
    const reaction = await bob.sendDraft(alice.account.phone, { reaction: { id: target.id, emoji: '👍' } });
    await client.until(
      () =>
        client
          .eventsOf('messages.reaction')
          .flat()
          .some(({ key, reaction: r }) => key.id === target.id && r.text === '👍'),
      'the reaction',
    );
    expect(target.reactions).toEqual({ [BOB]: '👍' });
    expect(reaction.type).toBe('reaction');
    const key = { remoteJid: BOB, id: target.id, fromMe: true };
    await toPhone({ react: { text: '❤️', key } });
    expect(bob.messages.get(target.id)?.reactions).toEqual({ [BOB]: '👍', [alice.account.phoneJid]: '❤️' });
    await toPhone({ react: { text: '', key } });
    expect(bob.messages.get(target.id)?.reactions).toEqual({ [BOB]: '👍' });
  });

  it('edits and deletions take effect within their time, and not after it', async () => {
    const target = await toPhone({ text: 'first wording' });
    const key = { remoteJid: BOB, id: target.id, fromMe: true };
    await toPhone({ text: 'second wording', edit: key });
    expect(bob.messages.get(target.id)).toMatchObject({ text: 'second wording', edited: true });
    await toPhone({ delete: key });
    expect(bob.messages.get(target.id)).toMatchObject({ deleted: true });

    const theirs = await toClient({ text: 'bob writes' });
    await bob.sendDraft(alice.account.phone, { edit: { id: theirs.key.id ?? '', text: 'bob rewrites' } });
    await client.until(
      () => client.updates.some(({ key: k, update }) => k.id === theirs.key.id && update.message?.editedMessage),
      'the edit',
    );
    await bob.sendDraft(alice.account.phone, { delete: { id: theirs.key.id ?? '' } });
    await client.until(
      () => client.updates.some(({ key: k, update }) => k.id === theirs.key.id && Number(update.messageStubType) === 1),
      'the deletion',
    );

    const old = await toPhone({ text: 'long ago' });
    old.timestamp -= 16 * 60;
    await toPhone({ text: 'too late', edit: { remoteJid: BOB, id: old.id, fromMe: true } });
    expect(bob.messages.get(old.id)?.text).toBe('long ago');
    const mine = await bob.sendText(alice.account.phone, 'mine');
    mine.timestamp -= 16 * 60;
    await expect(bob.sendDraft(alice.account.phone, { edit: { id: mine.id, text: 'x' } })).rejects.toMatchObject({
      code: 403,
    });
  });

  it('deletions take effect as long as the network was set to allow them', async () => {
    const { windows } = simulator.network.options;
    const hours = windows.deleteSeconds / 3600;
    const [inTime, tooLate] = [await toPhone({ text: 'in time' }), await toPhone({ text: 'too late' })];
    inTime.timestamp -= hours * 3600 - 60;
    tooLate.timestamp -= hours * 3600 + 60;
    for (const { id } of [inTime, tooLate]) await toPhone({ delete: { remoteJid: BOB, id, fromMe: true } });
    expect([inTime.deleted, tooLate.deleted]).toEqual([true, undefined]);
    expect(hours).toBe(DELETE_HOURS);
    const mine = await bob.sendText(alice.account.phone, 'mine');
    mine.timestamp -= hours * 3600 + 60;
    await expect(bob.sendDraft(alice.account.phone, { delete: { id: mine.id } })).rejects.toMatchObject({ code: 403 });
  });

  it('polls are made, voted on and counted on both sides', async () => {
    const poll = await toPhone({ poll: { name: 'Lunch?', values: ['Rice', 'Noodles'], selectableCount: 1 } });
    expect(poll).toMatchObject({ type: 'poll', text: 'Lunch?' });
    await bob.sendDraft(alice.account.phone, { vote: { id: poll.id, options: ['Noodles'] } });
    await alice.wait({ type: 'poll_vote' }, 5000);
    expect(alice.messages.get(poll.id)?.votes).toEqual({ [BOB]: ['Noodles'] });
    const vote = await client.message(({ message }) => Boolean(message?.pollUpdateMessage), 'the vote');
    const { encPayload, encIv } = vote.message?.pollUpdateMessage?.vote ?? {};
    const { selectedOptions } = decryptPollVote(
      { encPayload: encPayload ?? new Uint8Array(), encIv: encIv ?? new Uint8Array() },
      {
        pollMsgId: poll.id,
        pollEncKey: client.sent.get(poll.id)?.messageContextInfo?.messageSecret ?? new Uint8Array(),
        pollCreatorJid: alice.account.phoneJid,
        voterJid: BOB,
      },
    );
    expect(selectedOptions?.map((hash) => Buffer.from(hash))).toEqual([
      createHash('sha256').update('Noodles').digest(),
    ]);
    const theirs = await toClient({ poll: { name: 'Dinner?', options: ['Yes', 'No'] } });
    expect(theirs.message?.pollCreationMessageV3?.name).toBe('Dinner?');
  });

  it('quotes, mentions, forwards and view once keep their dress', async () => {
    const first = await toClient({ text: 'the original' });
    const quoting = await toPhone({ text: 'an answer', mentions: [BOB] }, { quoted: first });
    const shown = quoting.content.toString('latin1');
    expect(shown).toContain(first.key.id);
    const answer = await toClient({ text: 'quoting you', quote: quoting.id, mentions: [alice.account.phone] });
    expect(answer.message?.extendedTextMessage?.contextInfo).toMatchObject({
      stanzaId: quoting.id,
      mentionedJid: [alice.account.phoneJid],
    });
    expect(await toPhone({ forward: first })).toMatchObject({ text: 'the original' });
    const forwarded = await toClient({ forward: { id: quoting.id } });
    expect(forwarded.message?.extendedTextMessage?.contextInfo?.isForwarded).toBe(true);
    expect(await toPhone({ image: jpeg, viewOnce: true })).toMatchObject({ type: 'image' });
  });

  it.each(['in a chat', 'in a group'])(
    'what can be seen once reaches phones alone, linked devices get a notice of it: %s',
    async (where) => {
      const { network } = simulator;
      const { phoneJid } = alice.account;
      const chat = where === 'in a chat' ? phoneJid : createGroup(network, bob.account, 'Once', [phoneJid]).group.jid;
      const draft = { image: { bytes: jpeg }, viewOnce: true };
      const { id } = await bob.sendDraft(chat, draft);
      const notice = await client.message(({ key }) => key.id === id, 'the notice');
      expect(notice.message).toBeFalsy();
      expect(notice.key.isViewOnce).toBe(true);
      const onPhone = await alice.wait({ id }, 5000);
      expect(onPhone && (await download(network, onPhone)).bytes.equals(jpeg)).toBe(true);
      await bob.sendText(chat, `after what can be seen once ${where}`);
      await client.text(`after what can be seen once ${where}`);
      const { id: own } = await alice.sendDraft(chat === phoneJid ? bob.account.phoneJid : chat, draft);
      expect((await client.message(({ key }) => key.id === own, 'the notice of our own')).key.isViewOnce).toBe(true);
    },
  );

  it('voice messages are played, and the sender learns it', async () => {
    const voice = await toPhone({ audio: randomBytes(3000), ptt: true, mimetype: 'audio/ogg; codecs=opus' });
    bob.play(alice.account.phoneJid);
    await client.status(voice.id, 5);
  });

  it('files reach a group, by private id', async () => {
    const { group } = createGroup(simulator.network, alice.account, 'Files', [bob.account.phoneJid]);
    const bytes = randomBytes(4000);
    const got = await toPhone({ document: bytes, mimetype: 'application/zip', fileName: 'c.zip' }, {}, group.jid);
    expect((await download(simulator.network, got)).bytes.equals(bytes)).toBe(true);
    const image = randomBytes(4000);
    const back = await toClient({ image: { bytes: image } }, group.jid);
    expect((await downloadMediaMessage(back, 'buffer', { options: media.options } as never)).equals(image)).toBe(true);
  });

  it('accepts a status', async () => {
    const acked = new Promise<{ attrs: Record<string, string> }>((resolve) =>
      client.socket.ws.once('CB:ack,class:message', resolve),
    );
    await client.send('status@broadcast', { text: 'my day' }, { statusJidList: [BOB] });
    expect((await acked).attrs['error']).toBeUndefined();
  });
});
